try:
    from pydantic_settings import BaseSettings
except ImportError:
    try:
        from pydantic import BaseSettings
    except ImportError:
        BaseSettings = None

if BaseSettings:
    class Settings(BaseSettings):
        db_password: str = "secret"
        workers: int = 2
else:
    Settings = None
