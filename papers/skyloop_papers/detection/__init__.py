"""people found in images of places not trained on: precision, runtimes, training, V-C of the airloop paper"""
