package docker

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/registry"
	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/schemas"
)

// ErrNoImage means that the engine has no image of that name.
var ErrNoImage = errors.New("no such image")

// Push brings an image of the engine into a registry under the name to, and returns the digest of its manifest there.
// A layer that the registry has is not sent again. config is the folder of Docker's own configuration, which holds
// what docker login wrote.
func Push(ctx context.Context, api *client.Client, image, to, config string) (d schemas.Digest, err error) {
	auth, err := credentials(config, to)
	if err != nil {
		return "", err
	}
	if _, err := api.ImageTag(ctx, client.ImageTagOptions{Source: image, Target: to}); errdefs.IsNotFound(err) {
		return "", ErrNoImage
	} else if err != nil {
		return "", fmt.Errorf("naming the image %s: %w", to, err)
	}
	defer func() { // the name, and not the image
		_, removed := api.ImageRemove(context.WithoutCancel(ctx), to, client.ImageRemoveOptions{})
		err = errors.Join(err, removed)
	}()
	stream, err := api.ImagePush(ctx, to, client.ImagePushOptions{RegistryAuth: auth})
	if err != nil {
		return "", err
	}
	for m, err := range stream.JSONMessages(ctx) {
		var aux struct{ Digest schemas.Digest }
		switch {
		case err != nil:
			return "", err
		case m.Error != nil:
			return "", m.Error
		case m.Aux != nil && json.Unmarshal(*m.Aux, &aux) == nil && aux.Digest != "":
			d = aux.Digest
		}
	}
	if d == "" {
		return "", errors.New("the engine says no digest")
	}
	return d, nil
}

// credentials are those of docker login for the registry of a name, as the engine takes them. Where there are none it
// wants to hear that, too.
func credentials(config, name string) (string, error) {
	b, err := os.ReadFile(filepath.Join(config, "config.json"))
	if errors.Is(err, fs.ErrNotExist) {
		b, err = []byte("{}"), nil
	}
	var known struct {
		Auths       map[string]struct{ Auth string }
		CredsStore  string
		CredHelpers map[string]string
	}
	if err == nil {
		err = json.Unmarshal(b, &known)
	}
	if err != nil {
		return "", fmt.Errorf("reading what docker login wrote: %w", err)
	}
	host, _, _ := strings.Cut(name, "/")
	text, err := base64.StdEncoding.DecodeString(known.Auths[host].Auth)
	user, password, found := strings.Cut(string(text), ":")
	switch {
	case err != nil:
		return "", fmt.Errorf("reading what docker login wrote for %s: %w", host, err)
	case !found && (known.CredHelpers[host] != "" || known.CredsStore != ""):
		return "", fmt.Errorf("the credentials for %s are in a helper of Docker's: log in with a DOCKER_CONFIG that has none", host)
	}
	out, err := json.Marshal(registry.AuthConfig{Username: user, Password: password, ServerAddress: host})
	return base64.URLEncoding.EncodeToString(out), err
}
