import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Schemas } from "@/api/client";
import { Section } from "@/parts/Section";
import { When } from "@/parts/When";
import { many } from "@/parts/words";
import { answers, revisions } from "./revisions";
import { line, person } from "./timeline";

type Details = Schemas["RecordDetails"];
type Entry = Schemas["Entry"];

const fates = { refused: "refused", sent: "sent", present: "not sent yet", replaced: "never sent" };

export function Revisions({ d }: { d: Details }) {
  const all = revisions(d);
  return (
    <Section title="Revisions">
      <ul className="timeline">
        {all.map((r) => (
          <li key={r.n}>
            <Text size="sm">
              <b>Revision {r.n}</b>
              {r.n === d.record.payload_revision && ", the present one"}: {fates[r.fate]}
              {r.sent.length > 0 && ` (${many(r.sent.length, "submission")} ${r.sent.join(", ")})`}
            </Text>
            <Made e={r.made}>
              {r.n === 1 ? (
                <>
                  As it came, <When t={d.record.created_at} />
                </>
              ) : (
                "Who corrected it is in the audit log"
              )}
            </Made>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Made({ e, children }: { e?: Entry; children: ReactNode }) {
  return (
    <>
      {e?.note && (
        <Text size="sm" fs="italic">
          “{e.note}”
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {e ? (
          <>
            Corrected by {person(e.actor) ? e.actor : "the system"} <When t={e.at} />
          </>
        ) : (
          children
        )}
      </Text>
    </>
  );
}

export function Acknowledgments({ d }: { d: Details }) {
  const all = answers(d);
  return (
    <Section title="Acknowledgments">
      {all.length === 0 ? (
        <Text size="sm" c="dimmed">
          {d.submissions.length > 0 ? "The payer has said nothing about it yet." : "It was not sent: there is nothing to answer."}
        </Text>
      ) : (
        <ul className="timeline">
          {all.map((e) => {
            const l = line(e);
            return (
              <li key={e.seq}>
                <Text size="sm">
                  {l.meaning || (l.move ? `The payer answered: ${l.move}` : "The payer answered")}
                  {l.code && (
                    <span className="mono">
                      {" "}
                      {l.code}
                    </span>
                  )}
                </Text>
                <Text size="xs" c="dimmed">
                  <When t={e.at} />
                  {e.submission ? ` · about submission ${e.submission}` : ""}
                  {l.meaning && l.move ? ` · ${l.move}` : ""}
                </Text>
              </li>
            );
          })}
        </ul>
      )}
    </Section>
  );
}
