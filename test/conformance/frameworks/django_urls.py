from django.urls import path

import carteiro_django

urlpatterns = [path("carteiro", carteiro_django.receive)]
