"""Settings of the shop; the database is that of HOWDAH_DSN."""

import importlib.util
import json
import os

from psycopg.conninfo import conninfo_to_dict

_place = conninfo_to_dict(os.environ["HOWDAH_DSN"])
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _place.get("dbname", ""),
        "USER": _place.get("user", ""),
        "PASSWORD": _place.get("password", ""),
        "HOST": _place.get("host", ""),
        "PORT": str(_place.get("port", "")),
    }
}
DATABASES["other"] = {"ENGINE": "django.db.backends.postgresql", "NAME": "none"}
SECRET_KEY = "of a test"
USE_TZ = True
TIME_ZONE = "Europe/Vienna"
ALLOWED_HOSTS = ["*"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
ROOT_URLCONF = "shop.urls"
MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware"]
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "howdah.django",
    "shop",
]
if importlib.util.find_spec("django.tasks") is None:
    INSTALLED_APPS.append("django_tasks")
# What one test has otherwise.
DATABASES["default"].update(json.loads(os.environ.get("SHOP_DATABASE", "{}")))
TASKS = {
    "default": {
        "BACKEND": "howdah.django.Backend",
        "QUEUES": ["default", "mail"],
        "OPTIONS": {"queue_options": {"max_failed_deliveries": 2}},
    }
}
globals().update(json.loads(os.environ.get("SHOP_SETTINGS", "{}")))
