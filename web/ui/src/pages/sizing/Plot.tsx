import { Card, Title } from "@mantine/core";
import { useEffect, useState } from "react";

/** The simulated longest incident, drawn by the server. It is shown as a picture: nothing in it can run. */
export function Plot({ request }: { request: object }) {
  const [picture, setPicture] = useState("");
  const body = JSON.stringify(request);
  useEffect(() => {
    const gone = new AbortController();
    setPicture("");
    fetch("/v1/sizing/plot", { method: "POST", headers: { "Content-Type": "application/json" }, body, signal: gone.signal })
      .then(async (r) => {
        if (r.ok) setPicture(`data:image/svg+xml,${encodeURIComponent(await r.text())}`);
      })
      .catch(() => undefined); // the figures are there without it
    return () => gone.abort();
  }, [body]);
  if (!picture) return null;
  return (
    <Card withBorder component="section" aria-label="Simulation">
      <Title order={2} size="h4" mb="xs">
        The longest incident, simulated
      </Title>
      <img src={picture} alt="Claims waiting, failed calls and dead letters over the time of the incident, with and without the breaker; the table below has the figures." style={{ maxWidth: "100%", height: "auto", background: "#fff" }} />
    </Card>
  );
}
