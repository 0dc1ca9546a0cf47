"""What cameras see: textures, lights and the pictures made of them."""
