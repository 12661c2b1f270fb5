"""The same machine in the engines that kalaba is measured against."""
