import { Alert, Button, Group, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, background, got, type Schemas } from "@/api/client";
import { Failure } from "./Failure";
import { ReasonDialog } from "./ReasonDialog";
import { useCommand } from "./useCommand";
import { When } from "./When";

export type Approval = Schemas["Approval"];

/** Requests for a second person that one may see, the newest first; kept up to date. */
export function useApprovals() {
  return useQuery({
    queryKey: ["approvals"],
    queryFn: async () => (await got(api.GET("/v1/approvals", { headers: background }))).approvals,
    refetchInterval: 5_000,
  });
}

/** Whether a request may still come to something. */
export const live = (a: Approval): boolean => !a.expired && (a.state === "asked" || a.state === "given");

interface Props {
  /** What the button says: a verb. */
  verb: string;
  /** What it will do, in one sentence. */
  about: string;
  permission: string;
  /** RECORD:17 or JOB: and its id. */
  on: string;
  danger?: boolean;
  suggestions?: string[];
  disabled?: boolean;
  ask: (reason: string, key: string) => Promise<unknown>;
  act: (reason: string, approval: string, key: string) => Promise<unknown>;
}

/**
 * Something that takes two people: who means it asks, somebody else says yes to exactly that, and then who
 * asked does it. Shows which of the three it is at.
 */
export function SecondPerson(p: Props) {
  const approvals = useApprovals().data ?? [];
  const { run, busy } = useCommand();
  const [asking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const about = approvals.filter((a) => a.on === p.on && a.permission === p.permission);
  const mine = about.find((a) => a.mine && live(a));
  const others = about.find((a) => !a.mine && live(a));
  const refused = about.find((a) => a.mine && a.state === "refused");
  const doIt = async (a: Approval) => {
    setError(null);
    try {
      await run("", (key) => p.act(a.reason, a.id, key));
    } catch (x) {
      setError(x);
    }
  };
  const dialog = asking && (
    <ReasonDialog
      title={`${p.verb}: ask a second person`}
      verb="Ask a second person"
      suggestions={p.suggestions}
      onClose={() => setAsking(false)}
      onConfirm={(reason) => run("Asked. It goes on once somebody has approved it.", (key) => p.ask(reason, key))}
    >
      <Text size="sm">{p.about} It takes two people: nothing is done until somebody else has approved it, and then only by you.</Text>
    </ReasonDialog>
  );
  if (mine?.state === "given") {
    return (
      <Alert color="green" variant="light" title={`${mine.decided_by ?? "Somebody"} has approved it`} role="status">
        <Group justify="space-between">
          <Text size="sm">
            {mine.answer ? `“${mine.answer}”. ` : ""}Good for exactly this, once, until it ends <When t={mine.expires_at} />.
          </Text>
          <Button size="sm" color={p.danger ? "red" : undefined} loading={busy} disabled={p.disabled} onClick={() => void doIt(mine)}>
            {p.verb}
          </Button>
        </Group>
        {error !== null && (
          <>
            <Failure error={error} />
            <Button size="compact-sm" variant="default" mt="xs" onClick={() => setAsking(true)}>
              Ask anew …
            </Button>
          </>
        )}
        {dialog}
      </Alert>
    );
  }
  if (mine) {
    return (
      <Alert color="blue" variant="light" title={`${p.verb}: waits for a second person`} role="status">
        <Text size="sm">
          You asked <When t={mine.asked_at} />: “{mine.reason}”. Anybody who may approve sees it under Approvals; once they have said yes, the button is here. The request ends <When t={mine.expires_at} />.
        </Text>
      </Alert>
    );
  }
  return (
    <>
      <Group gap="sm">
        <Button variant={p.danger ? "outline" : "default"} color={p.danger ? "red" : undefined} disabled={p.disabled} onClick={() => setAsking(true)}>
          {p.verb} …
        </Button>
        {others && (
          <Text size="sm" c="dimmed">
            {others.asked_by} has asked for it <When t={others.asked_at} />.
          </Text>
        )}
        {refused && (
          <Text size="sm" c="var(--mantine-color-error)">
            {refused.decided_by} said no{refused.answer ? `: “${refused.answer}”` : ""}.
          </Text>
        )}
      </Group>
      {dialog}
    </>
  );
}
