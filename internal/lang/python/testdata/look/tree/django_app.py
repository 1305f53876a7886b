import django
from django.conf import settings

settings.configure(
    DEBUG=True, SECRET_KEY="x", ROOT_URLCONF="django_urls", ALLOWED_HOSTS=["*"], MIDDLEWARE=[], INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "rest_framework"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}, REST_FRAMEWORK={"DEFAULT_AUTHENTICATION_CLASSES": [], "UNAUTHENTICATED_USER": None}, USE_TZ=True,
)
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402

KIND = "django"
REQUESTS = [("GET", "/home/?page=1"), ("POST", "/plain/", {"a": 1}), ("POST", "/api/notes/", {}), ("POST", "/api/login/", {"user": {"name": "x"}}), ("POST", "/old/2019/3/", "title=x")]
app = get_wsgi_application()
