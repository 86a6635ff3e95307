import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { api, got, Problem, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Failure } from "@/parts/Failure";
import { ReasonField } from "@/parts/ReasonField";
import { Section } from "@/parts/Section";
import { When } from "@/parts/When";

export interface Opened {
  view: Schemas["ClaimView"];
  reason: string;
}

const often = ["Correct a fault", "Payer asked about it", "Provider asked about it"];

export const openClaim = (id: number, reason: string) => got(api.POST("/v1/records/{id}/view", { params: { path: { id } }, body: { reason, limit: 2000 } }));

/** Asks why before a claim is opened; one reason stands for the look, the correction and the sealing. */
export function OpenForm({ id, onOpen }: { id: number; onOpen: (o: Opened) => void }) {
  const { may, session, renew } = useSession();
  const [reason, setReason] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const glass = !may("payload.reveal") && may("payload.breakglass");
  if (!glass && !may("payload.reveal")) {
    return (
      <Section title="Why do you open it?">
        <Text size="sm">Your role does not look into claims. Analysts do.</Text>
      </Section>
    );
  }
  const submit = async (e: FormEvent) => {
    e.preventDefault();
    const why = reason.trim();
    if (busy || why === "") return;
    setBusy(true);
    setError(null);
    try {
      if (glass) {
        await got(api.POST("/v1/session/elevation", { body: { reason: why } }));
        await renew();
      }
      onOpen({ view: await openClaim(id, why), reason: why });
    } catch (x) {
      setError(x instanceof Error ? x : new Problem(0, {}));
      setBusy(false);
    }
  };
  return (
    <Section title="Why do you open it?">
      <form onSubmit={(e) => void submit(e)}>
        <Stack gap="sm">
          {glass && (
            <Alert color="orange" variant="light" title="This breaks the glass">
              <Text size="sm">Your role does not look into claims. Going on lets you do so for 15 minutes. It is in the audit log, with your reason, and may be asked about.</Text>
            </Alert>
          )}
          {session.elevated_until && (
            <Text size="sm">
              The glass is broken: you may look into claims until <When t={session.elevated_until} />.
            </Text>
          )}
          <ReasonField description="It is in the audit log before anything is decrypted, and stands for the correction too. It must name no patient." value={reason} onChange={setReason} often={often} autoFocus />
          {error !== null && <Failure error={error} />}
          <Group>
            <Button type="submit" loading={busy} disabled={reason.trim() === ""} color={glass ? "orange" : undefined}>
              {glass ? "Break the glass and open" : "Open the claim"}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
