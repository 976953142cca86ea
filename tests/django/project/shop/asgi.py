"""The site with the console beside it."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "shop.settings")
site = get_asgi_application()

from howdah.django.console import beside

application = beside(site, os.environ["CONSOLE_DSN"], "/queues")
