"""A Django project in one file: python django_site.py runserver --noreload PORT. Its middleware is a new project's."""

import sys

from django.conf import settings
from django.core.management import execute_from_command_line

settings.configure(
    SECRET_KEY="x" * 32,
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF="django_urls",
    MIDDLEWARE=[
        "django.middleware.security.SecurityMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
)
execute_from_command_line(sys.argv)
