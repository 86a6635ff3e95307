import { Alert, Anchor, Button, Group, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { api, got } from "@/api/client";
import { useSession } from "@/app/session";
import { Failure } from "@/parts/Failure";
import { Section } from "@/parts/Section";
import type { Opened } from "./OpenForm";

/** What has no structure: its bytes can be saved to a file, for the reason that it was opened for. They are in memory for that moment only. */
export function Unreadable({ opened }: { opened: Opened }) {
  const { may } = useSession();
  const { view, reason } = opened;
  const [saved, setSaved] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      const blob = (await got(api.POST("/v1/records/{id}/reveal", { params: { path: { id: view.record } }, body: { reason }, parseAs: "blob" }))) as unknown as Blob;
      const url = URL.createObjectURL(blob);
      const a = document.createElement("a");
      a.href = url;
      a.download = `record-${view.record}-revision-${view.payload_revision}.bin`;
      a.click();
      URL.revokeObjectURL(url);
      setSaved(true);
    } catch (x) {
      setError(x);
    }
    setBusy(false);
  };
  return (
    <Section title="It has no structure that could be shown">
      <Stack gap="sm">
        <Text size="sm">
          Its beginning cannot be read, so that nobody knows which claims it holds, and it cannot be corrected here. Look at its bytes, ask the submitter for a new file, and then write it off at{" "}
          <Anchor component={Link} size="sm" href={`/records/${view.record}`}>
            its page
          </Anchor>
          .
        </Text>
        {may("payload.reveal") && (
          <Group>
            <Button loading={busy} onClick={() => void save()}>
              Save its bytes
            </Button>
          </Group>
        )}
        {saved && (
          <Alert color="orange" variant="light" title="The file holds what was sent" role="status">
            <Text size="sm">It is PHI outside the vault now, in your hands: delete it when you are done. That you saved it is in the audit log, because “{reason}”.</Text>
          </Alert>
        )}
        {error !== null && <Failure error={error} />}
      </Stack>
    </Section>
  );
}
