import "./app/library";
import "./app/console.css";
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Problem } from "./api/client";
import { App } from "./app/App";
import { SessionGate } from "./app/session";
import { cssVariables, theme } from "./app/theme";
import { Notices } from "./parts/notices";

// Answers live in memory only, for as long as a page shows them and half a minute more.
const client = new QueryClient({
  defaultOptions: {
    queries: {
      // The server may be on this machine: whether there is a network does not matter.
      networkMode: "always",
      staleTime: 2_000,
      gcTime: 30_000,
      retry: (n, e) => n < 2 && (!(e instanceof Problem) || e.status === 0 || e.status === 503),
      refetchOnWindowFocus: false,
    },
  },
});

const nonce = document.querySelector<HTMLMetaElement>("meta[property=csp-nonce]")?.nonce ?? "";
// What holds the page still behind a dialog makes a style element of its own, and looks for its nonce there.
Object.assign(globalThis, { __webpack_nonce__: nonce });

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <Notices />
      <QueryClientProvider client={client}>
        <SessionGate>
          <App />
        </SessionGate>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
