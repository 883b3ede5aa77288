"""What is kept with the project and shown in its README."""
