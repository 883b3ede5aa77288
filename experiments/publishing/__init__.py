"""What is kept with the project, and what shows it: README, results page, HTML report."""
