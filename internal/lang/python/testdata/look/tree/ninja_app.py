import django
from django.conf import settings

settings.configure(DEBUG=True, SECRET_KEY="x", ROOT_URLCONF="ninja_urls", ALLOWED_HOSTS=["*"], MIDDLEWARE=[], INSTALLED_APPS=["ninja"], USE_TZ=True)
django.setup()

from django.core.wsgi import get_wsgi_application  # noqa: E402

KIND = "django"
REQUESTS = [("POST", "/ninja/things/3", {"name": "x"})]
app = get_wsgi_application()
