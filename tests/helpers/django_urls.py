"""Django's addresses in the test of mounting."""

urlpatterns: list[object] = []
