import { Alert, Button, Checkbox, Group, Radio, Stack, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { api, etag, got, type Schemas } from "@/api/client";
import { HandIn } from "@/parts/HandIn";
import { say } from "@/parts/notices";
import { ReasonDialog } from "@/parts/ReasonDialog";
import { live, useApprovals } from "@/parts/SecondPerson";
import { useCommand } from "@/parts/useCommand";
import { When } from "@/parts/When";
import { name } from "@/parts/words";
import { line } from "./timeline";

type Details = Schemas["RecordDetails"];

/** What each action is called, and what it does, said before it is done. */
const words: Record<string, { verb: string; does: string; often?: string[] }> = {
  correct: { verb: "Look and correct", does: "" },
  replay: { verb: "Replay", does: "It is released for delivery under new control numbers, with a new budget.", often: ["Corrected", "The payer has fixed its side"] },
  park: { verb: "Park", does: "Nobody can replay it until a person gives it back, which needs a second person.", often: ["Under investigation", "Waits for the provider"] },
  unpark: { verb: "Give back", does: "It goes back to quarantine, with one more replay allowed.", often: ["Cause found", "Provider answered"] },
  withdraw: { verb: "Write off", does: "It is never delivered again. This is for good.", often: ["Billed again by the provider", "Past filing limit"] },
  inquire: { verb: "Ask the payer", does: "The payer is asked what became of it. Nothing new is billed." },
  resolve: { verb: "Say what became of it", does: "All that went out in the same interchange and is in doubt is resolved with it.", often: ["Payer confirmed by phone", "Payer has no record of it"] },
};

const results: Record<string, string> = {
  replayed: "It is released.",
  duplicate_suppressed: "It was not released: it is settled or under way already.",
  parked: "It was not released: all its replays are spent, and it is parked now.",
  not_corrected: "It was not released: its present revision was refused as it is. Correct it, or say that the cause lay outside it.",
  in_doubt: "It was not released: nobody knows what became of what was sent. Ask the payer first.",
  known: "The payer knows it.",
  unknown: "The payer cannot tell.",
};

/** What a person may do with the record now. */
export function Actions({ d }: { d: Details }) {
  const [open, setOpen] = useState<string | null>(null);
  const [first, ...rest] = d.next.filter((n) => n.allowed && n.action in words);
  const button = (action: string, main: boolean) => {
    const props = { variant: main ? "filled" : "default", color: action === "withdraw" ? "red" : undefined, size: "sm" } as const;
    if (action === "correct") {
      return (
        <Button key={action} component={Link} href={`/records/${d.record.id}/claim`} {...props}>
          {words[action]!.verb}
        </Button>
      );
    }
    return (
      <Button key={action} {...props} onClick={() => setOpen(action)}>
        {words[action]!.verb}
      </Button>
    );
  };
  const acknowledge = d.next.some((n) => n.action === "acknowledge");
  const refused = d.next.filter((n) => !n.allowed && n.action in words);
  return (
    <Stack gap="xs">
      {first ? (
        <Group gap="xs">
          {button(first.action, true)}
          {rest.map((n) => button(n.action, false))}
        </Group>
      ) : (
        <Text size="sm" c="dimmed">
          {d.next.length === 0 ? "There is nothing to do." : "There is nothing that you may do."}
        </Text>
      )}
      {refused.length > 0 && (
        <Text size="xs" c="dimmed">
          Others may: {refused.map((n) => words[n.action]!.verb.toLowerCase()).join(", ")}.
        </Text>
      )}
      {acknowledge && <HandIn />}
      <Requests d={d} />
      {open && <Dialog d={d} action={open} onClose={() => setOpen(null)} />}
    </Stack>
  );
}

const secondPerson = (action: string): action is "unpark" | "withdraw" => action === "unpark" || action === "withdraw";

/** Requests for a second person that are about this record. */
function useRequests(d: Details) {
  const all = useApprovals().data ?? [];
  return all.filter((a) => a.on === `RECORD:${d.record.id}` && live(a));
}

const verbOf = (permission: string): string => words[permission.replace("record.", "")]?.verb ?? permission;

function Requests({ d }: { d: Details }) {
  const all = useRequests(d);
  return (
    <>
      {all.map((a) => (
        <Alert key={a.id} color={a.state === "given" ? "green" : "yellow"} variant="light" title={`${verbOf(a.permission)}: ${a.state === "given" ? "a second person said yes" : "waits for a second person"}`}>
          <Text size="sm">
            {a.asked_by} asked <When t={a.asked_at} />: “{a.reason}”. {a.state === "given" ? `${a.decided_by} approved it. ` : ""}
            It lapses <When t={a.expires_at} />, or when the record changes.
          </Text>
          {a.decidable && (
            <Button mt="xs" size="xs" variant="default" component={Link} href="/approvals">
              Decide
            </Button>
          )}
          {a.state === "given" && a.mine && <Text size="sm">You can do it now, with the button above.</Text>}
        </Alert>
      ))}
    </>
  );
}

function Dialog({ d, action, onClose }: { d: Details; action: string; onClose: () => void }) {
  const { run } = useCommand();
  const r = d.record;
  const w = words[action]!;
  const [seen] = useState(r.revision);
  const [unchanged, setUnchanged] = useState(false);
  const [arrived, setArrived] = useState("");
  const requests = useRequests(d).filter((a) => a.permission === `record.${action}` && a.mine);
  const given = requests.find((a) => a.state === "given");
  const asking = secondPerson(action) && !given;
  const refusedAsIs = action === "replay" && r.payload_revision <= (r.refused_revision ?? 0);

  const confirm = (reason: string) =>
    run("", async (key) => {
      // The revision that is shown: where it changed since the dialog opened, the dialog says so.
      const params = { path: { id: r.id }, header: { "Idempotency-Key": key, "If-Match": etag(r.revision) } };
      const body = { reason };
      let done: Schemas["Moved"];
      switch (action) {
        case "unpark":
        case "withdraw":
          if (!given) {
            await got(action === "unpark" ? api.POST("/v1/records/{id}/unpark:ask", { params, body }) : api.POST("/v1/records/{id}/withdraw:ask", { params, body }));
            say("A second person is asked. This page shows the answer.");
            return;
          }
          done = await got(
            action === "unpark"
              ? api.POST("/v1/records/{id}/unpark", { params, body: { reason, approval: given.id } })
              : api.POST("/v1/records/{id}/withdraw", { params, body: { reason, approval: given.id } }),
          );
          break;
        case "replay":
          done = await got(api.POST("/v1/records/{id}/replay", { params, body: { reason, unchanged } }));
          break;
        case "park":
          done = await got(api.POST("/v1/records/{id}/park", { params, body }));
          break;
        case "inquire":
          done = await got(api.POST("/v1/records/{id}/inquire", { params, body }));
          break;
        default:
          done = await got(api.POST("/v1/records/{id}/resolve", { params, body: { reason, arrived: arrived === "yes" } }));
      }
      const said = done.result ? (results[done.result] ?? done.result) : `It is ${name(done.record.state).toLowerCase()} now.`;
      say(said, done.result && !["replayed", "known"].includes(done.result) ? "yellow" : "green");
    });

  let extra: ReactNode = null;
  if (refusedAsIs && r.reason_code !== "RETRIES_EXHAUSTED" && r.reason_code !== "OVERFLOW") {
    extra = (
      <Checkbox
        checked={unchanged}
        onChange={(e) => setUnchanged(e.currentTarget.checked)}
        label="Send it as it is: the cause lay outside it, and is gone"
        description="Its present revision was refused. Without this it has to be corrected first."
      />
    );
  }
  if (action === "resolve") {
    extra = (
      <Radio.Group label="What became of it" value={arrived} onChange={setArrived} required>
        <Stack gap="xs" mt={4}>
          <Radio value="yes" label="It arrived" description="It waits for the payer’s acknowledgment." />
          <Radio value="no" label="It did not arrive" description="It may be replayed as it is. If it did arrive, it is billed twice." />
        </Stack>
      </Radio.Group>
    );
  }
  return (
    <ReasonDialog
      title={`${w.verb}: record ${r.id}`}
      verb={asking ? "Ask a second person" : w.verb}
      suggestions={w.often}
      danger={action === "withdraw"}
      optional={action === "inquire"}
      onClose={onClose}
      onConfirm={confirm}
    >
      <Text size="sm">{w.does}</Text>
      {asking && <Text size="sm">It needs a second person. He sees your reason; afterwards you do it here.</Text>}
      {given && (
        <Text size="sm">
          {given.decided_by} approved it <When t={given.decided_at} />.
        </Text>
      )}
      {r.revision !== seen && <Changed d={d} />}
      {extra}
    </ReasonDialog>
  );
}

/** Says what somebody else did to the record meanwhile. What was typed stays. */
export function Changed({ d }: { d: Details }) {
  const last = d.timeline.entries.at(-1);
  const l = last && line(last);
  return (
    <Alert color="yellow" variant="light" title="It has changed since you began">
      <Text size="sm">
        {l ? `${l.what}${l.who ? ` by ${l.who}` : ""}. ` : ""}
        It is {name(d.record.state).toLowerCase()} now. Look whether what you are about to do still makes sense; what you typed is kept.
      </Text>
    </Alert>
  );
}
