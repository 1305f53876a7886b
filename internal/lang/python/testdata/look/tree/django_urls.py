import json

from django.http import JsonResponse
from django.urls import include, path, re_path
from django.views import View
from django.views.decorators.http import require_POST
from rest_framework import generics, routers, serializers, viewsets
from rest_framework.decorators import action, api_view
from rest_framework.response import Response
from rest_framework.views import APIView


class NoteSerializer(serializers.Serializer):
    id = serializers.IntegerField(read_only=True)
    title = serializers.CharField(max_length=10)
    level = serializers.ChoiceField(choices=["low", "high"], required=False)
    tags = serializers.ListField(child=serializers.CharField(), required=False)


def home(request):
    return JsonResponse({"page": request.GET.get("page")})


@require_POST
def plain(request):
    data = json.loads(request.body)
    return JsonResponse({"a": data["a"]})


class Old(View):
    def post(self, request, year, month):
        return JsonResponse({"title": request.POST["title"]})


class Notes(viewsets.ViewSet):
    serializer_class = NoteSerializer

    def list(self, request):
        return Response([])

    def create(self, request):
        NoteSerializer(data=request.data).is_valid(raise_exception=True)
        return Response({}, status=201)

    @action(detail=True, methods=["put"])
    def seal(self, request, pk=None):
        return Response({})


class Owned(generics.ListCreateAPIView):
    serializer_class = NoteSerializer

    def get_queryset(self):
        return []

    def perform_create(self, serializer):
        pass


class Login(APIView):
    def post(self, request):
        return Response(request.data.get("user", {}).get("name"))


@api_view(["GET", "DELETE"])
def both(request, key):
    return Response({})


router = routers.DefaultRouter()
router.register(r"notes", Notes, basename="note")
urlpatterns = [
    path("home/", home),
    path("plain/", plain),
    re_path(r"^old/(?P<year>[0-9]{4})/(?P<month>\d+)/$", Old.as_view()),
    re_path(r"^older/(\d+)/$", Old.as_view()),
    re_path(r"^old/(?P<slug>[\w-]+)/?$", Old.as_view()),
    path("api/", include([path("owned/", Owned.as_view()), path("login/", Login.as_view()), path("both/<uuid:key>/", both), path("", include(router.urls))])),
]
