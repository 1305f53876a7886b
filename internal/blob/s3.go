package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/benchmint/benchmint/schemas"
)

// S3Prefix begins the location of a bucket: s3://BUCKET/PREFIX.
const S3Prefix = "s3://"

// S3Env are the variables that name a server and its keys, as other tools read them.
var S3Env = []string{"AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}

// S3 is a Remote in a bucket. An object is named by its digest, and never written twice.
type S3 struct {
	client         *minio.Client
	bucket, prefix string
	// Patience is how long a server may be away.
	Patience time.Duration
}

var _ Remote = (*S3)(nil)

// NewS3 opens a bucket at location; lookup gives the variables of S3Env. A bucket that is not there, or that
// the keys do not open, is an error; a server that does not answer now is one as well.
func NewS3(ctx context.Context, location string, lookup func(string) string) (*S3, error) {
	bucket, prefix, _ := strings.Cut(strings.TrimPrefix(location, S3Prefix), "/")
	if !strings.HasPrefix(location, S3Prefix) || bucket == "" {
		return nil, fmt.Errorf("%s is not s3://BUCKET or s3://BUCKET/PREFIX", location)
	}
	at := lookup("AWS_ENDPOINT_URL")
	if at == "" {
		at = "https://s3.amazonaws.com"
	}
	server, err := url.Parse(at)
	if err != nil || server.Host == "" {
		return nil, fmt.Errorf("AWS_ENDPOINT_URL: %q is not http(s)://HOST:PORT", at)
	}
	if lookup("AWS_ACCESS_KEY_ID") == "" || lookup("AWS_SECRET_ACCESS_KEY") == "" {
		return nil, fmt.Errorf("%s needs keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", location)
	}
	s := &S3{bucket: bucket, prefix: prefix, Patience: 10 * time.Minute}
	s.client, err = minio.New(server.Host, &minio.Options{
		Creds:  credentials.NewStaticV4(lookup("AWS_ACCESS_KEY_ID"), lookup("AWS_SECRET_ACCESS_KEY"), lookup("AWS_SESSION_TOKEN")),
		Secure: server.Scheme == "https", Region: lookup("AWS_REGION"), MaxRetries: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", location, err)
	}
	switch ok, err := s.client.BucketExists(ctx, bucket); {
	case err != nil:
		return nil, fmt.Errorf("%s at %s: %w", location, server.Host, err)
	case !ok:
		return nil, fmt.Errorf("%s at %s: there is no such bucket", location, server.Host)
	}
	return s, nil
}

func (s *S3) key(d schemas.Digest) string {
	return path.Join(s.prefix, strings.TrimPrefix(string(d), "sha256:"))
}

// Put implements Remote.
func (s *S3) Put(ctx context.Context, d schemas.Digest, r io.Reader, size int64) error {
	again, ok := r.(io.Seeker)
	err := s.patient(ctx, func() error {
		if ok {
			if _, err := again.Seek(0, io.SeekStart); err != nil {
				return err
			}
		}
		options := minio.PutObjectOptions{ContentType: "application/octet-stream"}
		options.SetMatchETagExcept("*") // one that is there stays
		_, err := s.client.PutObject(ctx, s.bucket, s.key(d), r, size, options)
		if said(err).StatusCode == http.StatusPreconditionFailed {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("bringing %s to the bucket: %w", d.Short(), err)
	}
	return nil
}

// Get implements Remote. What was written before a server went away is not written again.
func (s *S3) Get(ctx context.Context, d schemas.Digest, w io.Writer) error {
	at := int64(0)
	err := s.patient(ctx, func() error {
		var options minio.GetObjectOptions
		if at > 0 {
			if err := options.SetRange(at, 0); err != nil {
				return err
			}
		}
		o, err := s.client.GetObject(ctx, s.bucket, s.key(d), options)
		if err != nil {
			return err
		}
		n, err := io.Copy(w, o)
		at += n
		return errors.Join(err, o.Close())
	})
	if said(err).Code == minio.NoSuchKey {
		err = fs.ErrNotExist
	}
	if err != nil {
		return fmt.Errorf("getting %s from the bucket: %w", d.Short(), err)
	}
	return nil
}

// patient tries again while the server is away: no answer, or one of its own faults.
func (s *S3) patient(ctx context.Context, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	for {
		err := try()
		if err == nil || !isAway(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}

// said is what a server answered; zero where it did not.
func said(err error) (r minio.ErrorResponse) {
	errors.As(err, &r)
	return r
}

// isAway tells a server that fails or does not answer from one that says no, and from a fault of this machine.
func isAway(err error) bool {
	if r := said(err); r.Code != "" {
		return r.StatusCode >= http.StatusInternalServerError && r.StatusCode != http.StatusNotImplemented || r.StatusCode == http.StatusTooManyRequests
	}
	return errors.As(err, new(net.Error)) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}
