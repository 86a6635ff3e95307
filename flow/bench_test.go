package flow_test

import (
	"bytes"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/intake"
	"claimdlq/internal/testclaims"
	"claimdlq/store/filestore"
	"claimdlq/vault/filevault"
	"claimdlq/vault/keyring"
	"claimdlq/wire/x12"
)

// BenchmarkIntake takes in clean claims, sealed, recorded and audited, durably.
func BenchmarkIntake(b *testing.B) {
	var out bytes.Buffer
	if _, err := testclaims.Generate(&out, testclaims.Options{Bytes: 200 << 20}); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(out.Len()))
	b.ReportAllocs()
	var claims int64
	for b.Loop() {
		b.StopTimer()
		dir := b.TempDir()
		kr, err := keyring.Open(dir + "/keys")
		if err != nil {
			b.Fatal(err)
		}
		v, err := filevault.Open(dir+"/vault", dir+"/keys", kr)
		if err != nil {
			b.Fatal(err)
		}
		st, err := filestore.Open(dir+"/journal", filestore.Options{})
		if err != nil {
			b.Fatal(err)
		}
		in := intake.New(intake.Options{Store: st, Vault: v, Identities: kr.Identities(), Rules: x12.LatestRules(), Now: time.Now})
		b.StartTimer()
		res, err := in.File(b.Context(), claimdlq.System("intake"), "BENCH", bytes.NewReader(out.Bytes()))
		b.StopTimer()
		if err != nil || res.Accepted != res.Claims {
			b.Fatalf("%+v %v", res, err)
		}
		claims += res.Claims
		_ = st.Close()
		_ = v.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(claims)/b.Elapsed().Seconds(), "claims/s")
}
