"""Images of people to train and test the detector with."""
