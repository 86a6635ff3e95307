import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useParams } from "wouter";
import { api, etag, got, Problem, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Await } from "@/parts/Await";
import { Page } from "@/parts/Page";
import { useCommand } from "@/parts/useCommand";
import { sentence } from "@/parts/words";
import { Done } from "./claim/Done";
import { Editor } from "./claim/Editor";
import { Faults } from "./claim/Faults";
import type { Change, Doc } from "./claim/model";
import { toApi } from "./claim/model";
import { openClaim, type Opened, OpenForm } from "./claim/OpenForm";
import { type Rules, rulesOf } from "./claim/recipe";
import { Unreadable } from "./claim/Unreadable";
import { useRecord } from "./Record";
import { give, whichOf } from "./recipes/handoff";

/** A claim: closed until somebody says why, then a document that can be corrected. Its values live in this component only. */
export default function Claim() {
  const id = Number(useParams<{ id: string }>().id);
  const q = useRecord(Number.isSafeInteger(id) ? id : 0);
  return (
    <Page
      title={`Claim of record ${id}`}
      about={q.data && sentence(q.data.meaning ?? "")}
      crumbs={[
        { label: "Records", href: "/records" },
        { label: `Record ${id}`, href: `/records/${id}` },
      ]}
    >
      <Await query={q}>{(d) => <Room key={id} d={d} />}</Await>
    </Page>
  );
}

function Room({ d }: { d: Schemas["RecordDetails"] }) {
  const id = d.record.id;
  const { may } = useSession();
  const { run, busy } = useCommand();
  const client = useQueryClient();
  const [, go] = useLocation();
  const [opened, setOpened] = useState<Opened | null>(null);
  const [sealed, setSealed] = useState<{ record: Schemas["Record"]; rules: Rules; reason: string } | null>(null);

  if (sealed) return <Done {...sealed} />;
  if (!opened) {
    return (
      <>
        <Faults id={id} />
        <OpenForm id={id} onOpen={setOpened} />
      </>
    );
  }
  const seal = async (doc: Doc, changes: Change[]) => {
    const { view, reason } = opened;
    const m = await run(`Revision ${view.payload_revision + 1} is sealed.`, (key) =>
      got(
        api.POST("/v1/records/{id}/correct", {
          params: { path: { id }, header: { "Idempotency-Key": key, "If-Match": etag(view.revision) } },
          body: { reason, ...toApi(doc, changes) },
        }),
      ),
    );
    setSealed({ record: m.record, rules: rulesOf(doc, changes), reason });
    setOpened(null);
  };
  const reopen = async () => {
    const view = await openClaim(id, opened.reason);
    if (!view.readable) throw new Problem(409, { code: "conflict", detail: "The document has no structure now." });
    setOpened({ view, reason: opened.reason });
    await client.invalidateQueries({ queryKey: ["record", id] });
  };
  const same = (doc: Doc, changes: Change[]) => {
    give({ ...rulesOf(doc, changes), which: whichOf(d.record), reason: opened.reason, from: id });
    go("/recipes/new");
  };
  const editable = may("record.correct") && d.next.some((n) => n.action === "correct" && n.allowed);
  if (!opened.view.readable) return <Unreadable opened={opened} />;
  return <Editor d={d} opened={opened} editable={editable} busy={busy} onSeal={seal} onReopen={reopen} onSame={same} />;
}
