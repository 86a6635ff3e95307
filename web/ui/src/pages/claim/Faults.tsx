import { List, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { api, background, got, type Schemas } from "@/api/client";
import { Await } from "@/parts/Await";
import { Section } from "@/parts/Section";
import { placeOf } from "./place";

/** What is known to be wrong with a record and where, without opening it. Shown only where there is something. */
export function Faults({ id }: { id: number }) {
  const q = useQuery({
    queryKey: ["faults", id],
    queryFn: () => got(api.GET("/v1/records/{id}/faults", { params: { path: { id } }, headers: background })),
  });
  // Those of the claims of a set stand with the claims.
  const own = (q.data?.findings ?? []).filter((f) => f.record === id && (f.segment || f.field));
  if (q.data && own.length === 0) return null;
  return (
    <Section title="Where the fault is">
      <Await query={q} lines={2}>
        {() => (
          <>
            <FindingList all={own} />
            <Text size="xs" c="dimmed" mt={6}>
              This is the first fault, known without opening it. Opening it shows all.
            </Text>
          </>
        )}
      </Await>
    </Section>
  );
}

function FindingList({ all }: { all: Schemas["Finding"][] }) {
  return (
    <List listStyleType="none" spacing={6}>
      {all.map((f, i) => {
        const p = placeOf(f);
        return (
          <List.Item key={i}>
            <Text size="sm" fw={600}>
              {p.name || f.meaning || f.code}
              {p.where && (
                <Text span size="sm" c="dimmed" fw={400}>
                  {" "}
                  in {p.where}
                </Text>
              )}
            </Text>
            <Text size="sm">
              {f.meaning}{" "}
              <Text span size="xs" c="dimmed" className="mono">
                {f.code}
              </Text>
            </Text>
            {f.hint && (
              <Text size="sm" c="dimmed">
                {f.hint}
              </Text>
            )}
          </List.Item>
        );
      })}
    </List>
  );
}
