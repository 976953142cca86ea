"""A page that logs in."""

from django.contrib.auth import authenticate, login
from django.http import HttpResponse
from django.urls import path


def enter(request):
    """Log a user in."""
    login(request, authenticate(request, username=request.GET["name"], password="admiral"))
    return HttpResponse("welcome")


urlpatterns = [path("login", enter)]
