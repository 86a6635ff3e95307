import { Anchor, Box, Text } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Section } from "@/parts/Section";
import { When } from "@/parts/When";
import { count, many, name } from "@/parts/words";
import { type Line as Happening, chapters } from "./timeline";

/** What happened to a record, oldest first, with what was sent and what came back in one place. */
export function Timeline({ d }: { d: Schemas["RecordDetails"] }) {
  const { may } = useSession();
  const all = chapters(d.timeline.entries, d.submissions);
  const audit = may("audit.read") ? (
    <Anchor component={Link} href={`/audit?record=${d.record.id}`} size="sm">
      Audit log
    </Anchor>
  ) : undefined;
  return (
    <Section title="What happened" more={audit}>
      {(d.timeline.cut || !d.timeline.whole) && (
        <Text size="sm" c="dimmed" mb="xs">
          {d.timeline.cut ? `${many(d.timeline.cut, "older entry is", "older entries are")} left out.` : "Older entries are in the audit log only."}
        </Text>
      )}
      <ol className="timeline">
        {all.map((c) => (
          <li key={c.lines[0]!.seq}>
            {c.submission && <Sent s={c.submission} />}
            {c.lines.map((l) => (
              <Step key={l.seq} l={l} />
            ))}
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Sent({ s }: { s: Schemas["Submission"] }) {
  const control = s.isa13 ? `, ISA13 ${String(s.isa13).padStart(9, "0")}` : "";
  return (
    <Text size="sm" fw={600} component="span">
      Submission {s.id}
      {control}
      <Text span size="sm" c="dimmed" fw={400}>
        {" "}
        {s.replay ? "a replay, " : ""}
        {many(s.records, "record")}, {count(s.bytes)} bytes, {many(s.receives, "delivery", "deliveries")}; {s.state === "answered" ? "answered" : name(s.state)}
      </Text>
    </Text>
  );
}

function Step({ l }: { l: Happening }) {
  return (
    <Box mb={6}>
      <Text size="sm">
        {l.what}
        {l.who && (
          <>
            {" "}
            by <b>{l.who}</b>
          </>
        )}
        {l.meaning && `: ${l.meaning}`}
        {l.code && (
          <Text span size="xs" c="dimmed" className="mono">
            {" "}
            {l.code}
          </Text>
        )}
      </Text>
      {l.reason && (
        <Text size="sm" fs="italic">
          “{l.reason}”
        </Text>
      )}
      <Text size="xs" c="dimmed">
        <When t={l.at} />
        {l.move && ` · ${l.move}`}
      </Text>
    </Box>
  );
}
