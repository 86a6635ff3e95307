import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { api, got, Problem } from "@/api/client";
import { useSession } from "@/app/session";
import { Failure } from "./Failure";
import { ReasonField } from "./ReasonField";
import { Section } from "./Section";
import { When } from "./When";

interface Props {
  title: string;
  /** What the button says: a verb. */
  verb: string;
  description: string;
  often: string[];
  /** What somebody reads who may not look at all. */
  refused: ReactNode;
  /** Looks, for that reason. Throws what went wrong. */
  onLook: (reason: string) => Promise<void>;
}

/** Asks why before anything of a claim is decrypted. Whose role does not look may break the glass, where he may do that. */
export function LookForm({ title, verb, description, often, refused, onLook }: Props) {
  const { may, session, renew } = useSession();
  const [reason, setReason] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const glass = !may("payload.reveal") && may("payload.breakglass");
  if (!glass && !may("payload.reveal")) return <Section title={title}>{refused}</Section>;
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
      await onLook(why);
    } catch (x) {
      setError(x instanceof Error ? x : new Problem(0, {}));
    }
    setBusy(false);
  };
  return (
    <Section title={title}>
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
          <ReasonField description={description} value={reason} onChange={setReason} often={often} autoFocus />
          {error !== null && <Failure error={error} />}
          <Group>
            <Button type="submit" loading={busy} disabled={reason.trim() === ""} color={glass ? "orange" : undefined}>
              {glass ? `Break the glass and ${verb.charAt(0).toLowerCase()}${verb.slice(1)}` : verb}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
