import { Alert, Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { api, etag, got, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { type Details, Fact } from "@/parts/Beside";
import { Page } from "@/parts/Page";
import { PlanAct } from "@/parts/PlanAct";
import type { Column } from "@/parts/RecordTable";
import { SecondPerson } from "@/parts/SecondPerson";
import { When } from "@/parts/When";
import { WithdrawRecord } from "@/parts/WithdrawRecord";
import { count, many, name } from "@/parts/words";
import { type Chosen, chosen, sayChosen, useWorklist, Worklist } from "@/parts/Worklist";

type Rec = Schemas["Record"];

/** How many replays a record has before it is parked; each un-park allows one more. */
const cap = 3;

/** Why it is parked, in a few words; the log beside the list says who did it and why. */
function why(r: Rec): string {
  if (r.state !== "parked") return `Now: ${name(r.state)}`;
  if (r.reason_code === "EXPIRED") return "Too long unresolved";
  if (r.error_detail === "KEY_CONFLICT") return "Another file under the same numbers";
  if (r.replay_count >= cap + r.unparked) return "Its replays are used up";
  return "By a person";
}

const extra: Column[] = [{ key: "why", label: "Why it is parked", width: "minmax(150px, 1.4fr)", narrow: true, cell: why }];
const show = ["id", "why", "cause", "partner", "claims", "amount", "replays", "updated"];

export default function Parked() {
  const { may } = useSession();
  const work = useWorklist("parked");
  const { picked, moved } = work;
  const [asking, setAsking] = useState<{ act: "unpark" | "withdraw"; chosen: Chosen } | null>(null);
  return (
    <Page title="Parked" about="Out of reach of replays until a named person gives them back or writes them off. Nothing here is ever removed by itself.">
      <Worklist
        work={work}
        label="Parked"
        filters={["reason", "detail", "partner", "stream", "older_than"]}
        show={show}
        extra={extra}
        selectable={may("record.unpark") || may("record.withdraw")}
        none={{ title: "Nothing is parked", text: "Records come here after three replays without success, when they are unresolved for too long, or when a person parks them.", all: "Show all that are parked" }}
        actions={
          picked.length > 1 && (
            <>
              {may("record.unpark") && (
                <Button size="sm" variant="default" onClick={() => setAsking({ act: "unpark", chosen: chosen(work) })}>
                  Give back {sayChosen(work)} …
                </Button>
              )}
              {may("record.withdraw") && (
                <Button size="sm" variant="outline" color="red" onClick={() => setAsking({ act: "withdraw", chosen: chosen(work) })}>
                  Write off {sayChosen(work)} …
                </Button>
              )}
            </>
          )
        }
      >
        {(d) => <Choice d={d} onMoved={moved} />}
      </Worklist>
      {asking && <PlanAct act={asking.act} {...asking.chosen} onClose={() => setAsking(null)} />}
    </Page>
  );
}

function Choice({ d, onMoved }: { d: Details; onMoved: (r: Rec) => void }) {
  const r = d.record;
  const may = (a: string) => d.next.some((n) => n.action === a && n.allowed);
  const entry = d.timeline.entries.filter((e) => e.to === "parked").at(-1);
  return (
    <>
      <Group gap="lg" align="flex-start">
        <Fact label="Why it is parked">{r.state === "parked" ? why(r) : "It is not any more"}</Fact>
        {entry && (
          <Fact label="By whom">
            <span className="mono">{entry.actor}</span>, <When t={entry.at} />
            {entry.note ? `: “${entry.note}”` : ""}
          </Fact>
        )}
        <Fact label="Cause">
          {d.meaning || name(r.reason_code ?? "")} <span className="mono">{r.error_detail}</span>
        </Fact>
        <Fact label="Partner">
          <span className="mono">{r.partner || "–"}</span>
        </Fact>
        <Fact label="Replays">
          {count(r.replay_count)} of {count(d.limits.replays)}
          {r.unparked > 0 ? `, given back ${many(r.unparked, "time")}` : ""}
        </Fact>
        <Fact label="Claims">{count(r.claims)}</Fact>
      </Group>
      {r.fate_unknown && (
        <Alert color="orange" variant="light" title="It may have arrived">
          <Text size="sm">It was sent and nobody knows what became of it. Given back, it is in doubt again: ask the payer then.</Text>
        </Alert>
      )}
      <Text size="sm">{d.outlook}</Text>
      {may("unpark") && (
        <SecondPerson
          verb="Give back"
          about={`Record ${r.id} returns to ${r.fate_unknown ? "doubt" : "quarantine"} with one more replay allowed.`}
          permission="record.unpark"
          on={`RECORD:${r.id}`}
          suggestions={["The cause is gone", "Corrected"]}
          ask={(reason, key) => got(api.POST("/v1/records/{id}/unpark:ask", { params: { path: { id: r.id }, header: { "Idempotency-Key": key, "If-Match": etag(r.revision) } }, body: { reason } }))}
          act={async (reason, approval, key) =>
            onMoved((await got(api.POST("/v1/records/{id}/unpark", { params: { path: { id: r.id }, header: { "Idempotency-Key": key, "If-Match": etag(r.revision) } }, body: { reason, approval } }))).record)
          }
        />
      )}
      {may("withdraw") && <WithdrawRecord r={r} onMoved={onMoved} />}
    </>
  );
}
