import { Alert, Button, Group, Radio, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { api, etag, got, Problem, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { type Details, Fact } from "@/parts/Beside";
import { Failure } from "@/parts/Failure";
import { HandIn } from "@/parts/HandIn";
import { Page } from "@/parts/Page";
import { PlanAct } from "@/parts/PlanAct";
import { ReasonDialog } from "@/parts/ReasonDialog";
import type { Column } from "@/parts/RecordTable";
import { useCommand } from "@/parts/useCommand";
import { When } from "@/parts/When";
import { WithdrawRecord } from "@/parts/WithdrawRecord";
import { ago, at, count, many, name } from "@/parts/words";
import { type Chosen, chosen, sayChosen, useWorklist, Worklist } from "@/parts/Worklist";

type Rec = Schemas["Record"];

const extra: Column[] = [
  { key: "since", label: "Since", width: "108px", narrow: true, cell: (r) => <time dateTime={r.updated_at} title={at(r.updated_at)}>{ago(r.updated_at)}</time> },
  { key: "what", label: "What happened", width: "minmax(160px, 2fr)", narrow: true, cell: (r, m) => (r.state === "in_doubt" ? <span title={r.error_detail}>{m[r.error_detail] || r.error_detail}</span> : <strong>Now: {name(r.state)}</strong>) },
];
const show = ["id", "since", "what", "partner", "claims", "amount"];

export default function InDoubt() {
  const { may } = useSession();
  const work = useWorklist("in_doubt");
  const { open, moved } = work;
  const [asking, setAsking] = useState<Chosen | null>(null);
  return (
    <Page title="In doubt" about="Sent, and nobody knows whether it arrived. Each of them needs an answer: from the payer, or from a person who knows.">
      <Alert color="blue" variant="light" title="Why it is never sent again by itself">
        <Text size="sm">
          The payer may have it already. To send it again could pay a claim twice, or deny it as a duplicate. Ask the payer first: what it has is settled by its answer; what it does not have goes out again with the same
          numbers. Only if it cannot tell does a person decide, with a reason.
        </Text>
      </Alert>
      <Worklist
        work={work}
        label="In doubt"
        filters={["detail", "partner", "stream", "older_than"]}
        show={show}
        extra={extra}
        none={{ title: "Nothing is in doubt", text: "Of everything that was sent it is known what became of it, or the payer's answer is not due yet.", all: "Show all that are in doubt" }}
        actions={
          may("record.inquire") && (
            <Button size="sm" disabled={open.length === 0} onClick={() => setAsking(chosen(work))}>
              Ask the payer about {sayChosen(work)}
            </Button>
          )
        }
      >
        {(d) => <Doubt d={d} onMoved={moved} />}
      </Worklist>
      {asking && <PlanAct act="inquire" {...asking} onClose={() => setAsking(null)} />}
    </Page>
  );
}

/** What an inquiry brought. */
function sayAnswer(m: Schemas["Moved"]): string {
  if (m.result === "unknown") return "The payer cannot tell";
  const s = m.record.state;
  if (s === "settled") return "Settled";
  if (s === "queued" || s === "leased") return "It had not arrived: it goes out again";
  if (s === "submitted") return "It arrived: it waits for the acknowledgment";
  if (s === "quarantined") return "The payer had refused it: quarantined";
  return name(s);
}

function Doubt({ d, onMoved }: { d: Details; onMoved: (r: Rec) => void }) {
  const { run, busy } = useCommand();
  const [resolving, setResolving] = useState(false);
  const [parking, setParking] = useState(false);
  const [arrived, setArrived] = useState<"yes" | "no" | "">("");
  const [said, setSaid] = useState("");
  const [error, setError] = useState<unknown>(null);
  const r = d.record;
  const may = (a: string) => d.next.some((n) => n.action === a && n.allowed);
  const sent = d.submissions.find((s) => s.id === r.submission) ?? d.submissions.at(-1);
  const params = (key: string) => ({ path: { id: r.id }, header: { "Idempotency-Key": key, "If-Match": etag(r.revision) } });
  const ask = async () => {
    setError(null);
    setSaid("");
    try {
      const m = await run("", (key) => got(api.POST("/v1/records/{id}/inquire", { params: params(key), body: {} })));
      setSaid(`${sayAnswer(m)}.`);
      onMoved(m.record);
    } catch (x) {
      setError(x);
    }
  };
  return (
    <>
      <Group gap="lg" align="flex-start">
        <Fact label="What happened">
          {d.meaning || name(r.reason_code ?? "")} <span className="mono">{r.error_detail}</span>
        </Fact>
        <Fact label="To whom">
          <span className="mono">{r.partner}</span>, {name(r.stream)}
        </Fact>
        <Fact label="Sent">{sent?.sent_at ? <When t={sent.sent_at} /> : "Not by us, or before the log begins"}</Fact>
        {sent && (
          <Fact label="What was sent">
            Submission {sent.id}, {many(sent.records, "record")}, {many(sent.bytes, "byte")}
            {sent.isa13 ? `, ISA13 ${String(sent.isa13).padStart(9, "0")}` : ""}, {many(sent.receives, "delivery", "deliveries")}
          </Fact>
        )}
        <Fact label="Claims">{count(r.claims)}</Fact>
      </Group>
      <Text size="sm">{d.outlook}</Text>
      {error !== null && <Failure error={error} />}
      {said && (
        <Text size="sm" fw={600} role="status">
          {said}
          {said.startsWith("The payer cannot tell") && " Hand in its acknowledgment, or decide with a reason."}
        </Text>
      )}
      <Stack gap="xs">
        <Group gap="xs">
          {may("inquire") && (
            <Button loading={busy} onClick={() => void ask()}>
              Ask the payer
            </Button>
          )}
          {may("resolve") && (
            <Button variant="default" onClick={() => setResolving(true)}>
              I know what became of it …
            </Button>
          )}
          {may("park") && (
            <Button variant="default" onClick={() => setParking(true)}>
              Park …
            </Button>
          )}
        </Group>
        {may("withdraw") && <WithdrawRecord r={r} onMoved={onMoved} />}
        {d.next.some((n) => n.action === "acknowledge") && <HandIn />}
      </Stack>
      {resolving && (
        <ReasonDialog
          title={`What became of record ${r.id}?`}
          verb={arrived === "no" ? "It did not arrive" : arrived === "yes" ? "It arrived" : "Choose first"}
          danger={arrived === "no"}
          suggestions={arrived === "no" ? ["The payer says it has nothing", "Our line was down"] : ["Seen in the payer's portal", "Confirmed by telephone"]}
          onClose={() => setResolving(false)}
          onConfirm={async (reason) => {
            if (arrived === "") throw new Problem(422, { code: "invalid", detail: "Say whether it arrived." });
            onMoved((await run("", (key) => got(api.POST("/v1/records/{id}/resolve", { params: params(key), body: { arrived: arrived === "yes", reason } })))).record);
          }}
        >
          <Radio.Group value={arrived} onChange={(v) => setArrived(v as "yes" | "no")} label="As somebody who knows" required>
            <Stack gap="xs" mt={6}>
              <Radio value="yes" label="It arrived" description="It waits for its acknowledgment again." />
              <Radio value="no" label="It did not arrive" description="It is quarantined and may be replayed as it is. If this is wrong, the claim may be paid twice." />
            </Stack>
          </Radio.Group>
          {(sent?.records ?? 0) > 1 && (
            <Text size="sm" fw={600}>
              It went out with others: all of the {many(sent!.records, "record")} of the same interchange that are in doubt are resolved with it.
            </Text>
          )}
        </ReasonDialog>
      )}
      {parking && (
        <ReasonDialog
          title={`Park record ${r.id}`}
          verb="Park"
          suggestions={["The payer is looking for it"]}
          onClose={() => setParking(false)}
          onConfirm={async (reason) => onMoved((await run("Parked", (key) => got(api.POST("/v1/records/{id}/park", { params: params(key), body: { reason } })))).record)}
        >
          <Text size="sm">It leaves this list and is out of reach of replays; that it is in doubt is not forgotten.</Text>
        </ReasonDialog>
      )}
    </>
  );
}
