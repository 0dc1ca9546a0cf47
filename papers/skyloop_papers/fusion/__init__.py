"""people tracked by camera, radar and both, on a clear day, in fog and at night; what airloop is made for"""
