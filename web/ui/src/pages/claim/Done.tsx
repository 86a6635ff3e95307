import { Alert, Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, etag, got, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Failure } from "@/parts/Failure";
import { Section } from "@/parts/Section";
import { useCommand } from "@/parts/useCommand";
import { many } from "@/parts/words";
import { give, whichOf } from "../recipes/handoff";
import type { Rules } from "./recipe";
import { useOthers } from "./useOthers";

/** After a revision is sealed: send it, and do the same to the others. */
export function Done({ record, rules, reason }: { record: Schemas["Record"]; rules: Rules; reason: string }) {
  const { may } = useSession();
  const { run, busy } = useCommand();
  const [, go] = useLocation();
  const [now, setNow] = useState(record);
  const [result, setResult] = useState("");
  const [error, setError] = useState<unknown>(null);
  const others = useOthers(record, now.state);
  const replay = async () => {
    setError(null);
    try {
      const m = await run("", (key) =>
        got(api.POST("/v1/records/{id}/replay", { params: { path: { id: now.id }, header: { "Idempotency-Key": key, "If-Match": etag(now.revision) } }, body: { reason } })),
      );
      setNow(m.record);
      setResult(m.result ?? "");
    } catch (x) {
      setError(x);
    }
  };
  return (
    <Section title={`Revision ${record.payload_revision} is sealed`}>
      <Stack gap="sm">
        <Text size="sm">The values are gone from this page. Nothing is sent until the record is replayed.</Text>
        {result === "replayed" && (
          <Alert color="green" variant="light" title="It is released">
            <Anchor component={Link} href={`/records/${record.id}`} size="sm">
              Follow it on its page
            </Anchor>
          </Alert>
        )}
        {result !== "" && result !== "replayed" && <Alert color="yellow" variant="light" title={`It was not released: ${result.replaceAll("_", " ")}`} />}
        {error !== null && <Failure error={error} />}
        <Group gap="xs">
          {others > 0 && (
            <Button
              onClick={() => {
                give({ ...rules, which: whichOf(now), reason, from: now.id });
                go("/recipes/new");
              }}
            >
              Do the same to the {many(others, "other")} with this cause
            </Button>
          )}
          {result !== "replayed" && may("replay.run") && (
            <Button variant={others > 0 ? "default" : "filled"} loading={busy} onClick={() => void replay()}>
              Replay it now
            </Button>
          )}
          <Button variant="default" component={Link} href={`/records/${record.id}`}>
            To the record
          </Button>
        </Group>
      </Stack>
    </Section>
  );
}
