"""A small shop, on Django with its Tasks or with django-tasks."""
