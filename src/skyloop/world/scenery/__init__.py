"""Building blocks of the worlds: buildings, streets, furniture, plants, and the actors that move among them."""
