import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The result is committed in ../dist, so that `go build` alone has the console.
export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  // Replaced by the server with a new value for each page (Content-Security-Policy).
  html: { cspNonce: "CSP_NONCE" },
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    sourcemap: false,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
  // `npm run dev` beside a serving process, at CONSOLE_API.
  server: {
    host: "127.0.0.1",
    // The server asks that a page come from its own origin: the host stays the page's.
    proxy: { "/v1": { target: process.env.CONSOLE_API ?? "http://127.0.0.1:8837", changeOrigin: false } },
  },
});
