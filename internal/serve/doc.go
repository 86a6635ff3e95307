// Package serve is the HTTP face of a serving process: claims come in one by one, in
// batches and as a stream, dead letters and acknowledgments of other pipelines
// beside them; figures and health go out.
//
// Whatever is answered with 2xx is durable. What cannot be taken in now is refused
// with 503 and Retry-After: nothing of it was kept. Answers and errors name records,
// positions and codes, never a value of a claim, and are never cached.
package serve
