import { Anchor, List, Text } from "@mantine/core";
import { Link } from "wouter";
import { useSession } from "@/app/session";
import { Await } from "@/parts/Await";
import { type Filter, format, ofGroup } from "@/parts/filter";
import { Section } from "@/parts/Section";
import { useGroups } from "@/parts/useGroups";
import { count, many, name } from "@/parts/words";

/** Four fifths of 14 days, after which what is unresolved is parked: from there on the alarm rings. */
const ripe = "268h";
const most = 10;

/** What was unresolved for so long that it will be parked: by cause, which opens nothing. */
export function Retention({ filter }: { filter: Filter }) {
  const { may } = useSession();
  const older_than = filter.older_than ?? ripe;
  const q = useGroups({ older_than });
  if (!may("groups.read")) return null;
  return (
    <Section title="Soon parked by their retention">
      <Text size="sm" mb="xs">
        Unresolved for so long that they are parked next, and then take two people. Records near the end of their filing window are left where they are.
      </Text>
      <Await query={q} lines={3}>
        {({ groups }) => {
          const all = groups.filter((g) => g.state !== "parked" && (!filter.stream || g.stream === filter.stream) && (!filter.partner || g.partner === filter.partner) && (!filter.state || g.state === filter.state));
          if (all.length === 0) return <Text size="sm">None is.</Text>;
          return (
            <>
              <List size="sm" spacing={6} listStyleType="none" aria-label="Soon parked, by cause">
                {all.slice(0, most).map((g) => {
                  const query = format({ ...ofGroup(g), older_than });
                  return (
                    <List.Item key={query}>
                      <Anchor component={Link} href={`/records?${query}`} size="sm">
                        {many(g.records, "record")}: {g.meaning || g.error_detail || name(g.reason_code || g.state)}
                      </Anchor>{" "}
                      <Text span size="sm" c="dimmed">
                        {name(g.state)}, <span className="mono">{g.partner}</span>
                      </Text>
                    </List.Item>
                  );
                })}
              </List>
              <Anchor component={Link} size="sm" mt="xs" display="inline-block" href={`/groups?${format({ stream: filter.stream, partner: filter.partner, state: filter.state, older_than })}`}>
                {all.length > most ? `All ${count(all.length)} causes` : "What to do about them"}
              </Anchor>
            </>
          );
        }}
      </Await>
    </Section>
  );
}
