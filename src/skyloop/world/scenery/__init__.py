"""What worlds are built from: buildings, streets, furniture, plants, and the actors that move among them."""
