package python

import (
	"strings"
	"sync"
)

// Debian packages (bookworm) of programs that tests call and images lack.
var programs = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"less": "less", "git": "git", "gcc": "build-essential", "g++": "build-essential", "cc": "build-essential", "c++": "build-essential",
		"make": "build-essential", "x86_64-linux-gnu-gcc": "build-essential", "cmake": "cmake", "ninja": "ninja-build", "pkg-config": "pkg-config", "pandoc": "pandoc",
		"file": "file", "unzip": "unzip", "zip": "zip", "xz": "xz-utils", "curl": "curl", "wget": "wget", "openssl": "openssl",
		"node": "nodejs", "npm": "npm", "man": "man-db", "dot": "graphviz", "ffmpeg": "ffmpeg", "gs": "ghostscript", "hg": "mercurial",
		"svn": "subversion", "locale-gen": "locales", "locale": "locales", "swig": "swig", "java": "default-jre-headless", "sqlite3": "sqlite3",
		"ps": "procps", "zsh": "zsh", "fish": "fish", "pg_config": "libpq-dev", "mysql_config": "default-libmysqlclient-dev",
		"curl-config": "libcurl4-openssl-dev libssl-dev", "tesseract": "tesseract-ocr",
		"xml2-config": "libxml2-dev", "xslt-config": "libxslt1-dev", "ssh": "openssh-client", "ssh-keygen": "openssh-client",
		"gpg": "gnupg", "tput": "ncurses-bin", "bc": "bc", "jq": "jq", "rsync": "rsync", "patch": "patch", "pdftotext": "poppler-utils",
		"redis-server": "redis-server", "cargo": "cargo", "rustc": "rustc", "ifconfig": "net-tools", "ip": "iproute2", "lsof": "lsof", "setfacl": "acl",
	}
})

// Debian packages of C headers, by the beginning of their path.
var headers = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"ffi.h": "libffi-dev", "openssl/": "libssl-dev", "libxml/": "libxml2-dev libxslt1-dev", "libxslt/": "libxslt1-dev", "zlib.h": "zlib1g-dev",
		"jpeglib.h": "libjpeg-dev", "yaml.h": "libyaml-dev", "libpq-fe.h": "libpq-dev", "mysql.h": "default-libmysqlclient-dev",
		"ldap.h": "libldap-dev", "lber.h": "libldap-dev", "sasl": "libsasl2-dev", "sqlite3.h": "libsqlite3-dev", "gmp.h": "libgmp-dev",
		"expat.h": "libexpat1-dev", "ev.h": "libev-dev", "uv.h": "libuv1-dev", "event.h": "libevent-dev", "snappy": "libsnappy-dev",
		"lz4": "liblz4-dev", "zstd": "libzstd-dev", "bzlib.h": "libbz2-dev", "lzma.h": "liblzma-dev", "curl/": "libcurl4-openssl-dev",
		"freetype": "libfreetype-dev", "png.h": "libpng-dev", "pcap": "libpcap-dev", "systemd/": "libsystemd-dev", "sys/acl.h": "libacl1-dev",
		"krb5.h": "libkrb5-dev", "gssapi": "libkrb5-dev", "hdf5.h": "libhdf5-dev", "geos_c.h": "libgeos-dev", "proj.h": "libproj-dev",
		"sql.h": "unixodbc-dev", "spatialindex/": "libspatialindex-dev", "sodium.h": "libsodium-dev", "magic.h": "libmagic-dev", "enchant.h": "libenchant-2-dev", "portaudio.h": "portaudio19-dev",
	}
})

// Debian packages of shared libraries, by the beginning of their file name.
var libraries = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"libGL.so": "libgl1", "libEGL.so": "libegl1", "libglib-2.0": "libglib2.0-0", "libgthread": "libglib2.0-0", "libmagic": "libmagic1",
		"libpq.so": "libpq5", "libffi.so": "libffi8", "libssl.so": "libssl3", "libcrypto.so": "libssl3", "libsqlite3": "libsqlite3-0",
		"libreadline": "libreadline8", "libbz2": "libbz2-1.0", "liblzma": "liblzma5", "libncurses": "libncursesw6", "libtinfo": "libtinfo6",
		"libgdbm": "libgdbm6", "libuuid": "libuuid1", "libexpat": "libexpat1", "libxml2": "libxml2", "libxslt": "libxslt1.1",
		"libX11": "libx11-6", "libXext": "libxext6", "libSM": "libsm6", "libICE": "libice6", "libXrender": "libxrender1", "libgomp": "libgomp1",
		"libstdc++": "libstdc++6", "libsndfile": "libsndfile1", "libsodium": "libsodium23", "libenchant": "libenchant-2-2", "libcairo": "libcairo2",
		"libpango": "libpango-1.0-0", "libxkbcommon": "libxkbcommon0", "libdbus": "libdbus-1-3", "libfontconfig": "libfontconfig1",
		"libgobject": "libglib2.0-0", "libzstd": "libzstd1", "libspatialindex": "libspatialindex-c6", "libyaml": "libyaml-0-2", "libgfortran": "libgfortran5", "libopenblas": "libopenblas0",
	}
})

// Plugins that define command line options, by the beginning of the option.
var optionPlugins = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"--cov": "pytest-cov", "--no-cov": "pytest-cov", "--asyncio": "pytest-asyncio", "--timeout": "pytest-timeout", "--benchmark": "pytest-benchmark",
		"--numprocesses": "pytest-xdist", "-n": "pytest-xdist", "--dist": "pytest-xdist", "--reruns": "pytest-rerunfailures", "--ds": "pytest-django",
		"--nomigrations": "pytest-django", "--reuse-db": "pytest-django", "--disable-socket": "pytest-socket", "--allow-hosts": "pytest-socket",
		"--doctest-plus": "pytest-doctestplus", "--doctest-rst": "pytest-doctestplus", "--remote-data": "pytest-remotedata", "--mpl": "pytest-mpl",
		"--arraydiff": "pytest-arraydiff", "--xdoctest": "xdoctest", "--xdoc": "xdoctest", "--nbval": "nbval", "--snapshot": "syrupy",
		"--hypothesis": "hypothesis", "--record-mode": "pytest-recording", "--block-network": "pytest-recording", "--vcr-record": "pytest-vcr",
		"--durations-path": "pytest-split", "--memray": "pytest-memray", "--strict-asyncio": "pytest-asyncio", "--inline-snapshot": "inline-snapshot",
		"--typeguard": "typeguard", "--jaxtyping": "jaxtyping", "--beartype": "pytest-beartype", "--sugar": "pytest-sugar", "--html": "pytest-html",
		"--json-report": "pytest-json-report", "--tap": "pytest-tap", "--order": "pytest-order", "--codspeed": "pytest-codspeed", "--run-parallel": "pytest-run-parallel",
	}
})

// Plugins that define fixtures.
var fixturePlugins = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"mocker": "pytest-mock", "benchmark": "pytest-benchmark", "httpbin": "pytest-httpbin", "httpbin_secure": "pytest-httpbin", "freezer": "pytest-freezer",
		"datadir": "pytest-datadir", "shared_datadir": "pytest-datadir", "data_regression": "pytest-regressions", "file_regression": "pytest-regressions",
		"num_regression": "pytest-regressions", "snapshot": "syrupy", "aiohttp_client": "pytest-aiohttp", "httpserver": "pytest-httpserver",
		"httpx_mock": "pytest-httpx", "requests_mock": "requests-mock", "responses": "responses", "subtests": "pytest-subtests", "event_loop": "pytest-asyncio",
		"fs": "pyfakefs", "script_runner": "pytest-console-scripts", "settings": "pytest-django", "django_user_model": "pytest-django",
		"vcr": "pytest-recording", "qtbot": "pytest-qt", "worker_id": "pytest-xdist", "testrun_uid": "pytest-xdist", "faker": "faker",
		"lazy_fixture": "pytest-lazy-fixture", "xprocess": "pytest-xprocess",
	}
})

// knownDists are distributions that builds and tests import under their own name;
// a name outside the project's lists and this one is never installed.
var knownDists = strings.Fields(`setuptools wheel cython numpy cffi pbr hatchling hatch-vcs hatch-fancy-pypi-readme flit-core flit-scm poetry-core pdm-backend pdm-pep517
editables packaging setuptools-scm versioneer tomli toml pybind11 scikit-build scikit-build-core meson-python setuptools-rust maturin
pytest pytest-asyncio pytest-mock pytest-cov pytest-timeout pytest-xdist pytest-benchmark pytest-django pytest-httpbin
hypothesis freezegun mock parameterized nose attrs six requests trio anyio aiohttp uvloop sybil coverage pretend simplejson
typing-extensions exceptiongroup psutil responses flaky time-machine dirty-equals respx httpx trustme pluggy iniconfig greenlet
ddt testfixtures syrupy inline-snapshot pyfakefs faker factory-boy jinja2 markupsafe click werkzeug cryptography pandas scipy`)
