"""The shop's table."""

from django.db import models


class Order(models.Model):
    """An order."""

    item = models.TextField()
    state = models.TextField(default="new")
    at = models.DateTimeField(null=True)
    extra = models.JSONField(default=dict)
