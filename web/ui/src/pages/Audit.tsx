import { Alert, Anchor, Button, Card, Code, CopyButton, Group, List, Stack, Table, Text, Textarea, TextInput, Title } from "@mantine/core";
import { IconShieldCheck } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { api, background, got, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { LoadingLines } from "@/parts/Loading";
import { Page } from "@/parts/Page";
import { at, count, many, name } from "@/parts/words";

const fields = [
  { key: "record", label: "Record", placeholder: "number" },
  { key: "actor", label: "Who", placeholder: "login" },
  { key: "action", label: "Did what", placeholder: "reveal, correct, replay …" },
  { key: "from", label: "From", type: "datetime-local" },
  { key: "to", label: "To", type: "datetime-local" },
] as const;

export default function Audit() {
  const { may } = useSession();
  const [query, setQuery] = useSearchParams();
  const [typed, type] = useState<Record<string, string>>(() => Object.fromEntries(fields.map((f) => [f.key, query.get(f.key) ?? ""])));
  const wanted = Object.fromEntries([...query].filter(([k]) => fields.some((f) => f.key === k)));
  const submit = (e: FormEvent) => {
    e.preventDefault();
    setQuery(new URLSearchParams(Object.entries(typed).filter(([, v]) => v !== "")));
  };
  return (
    <Page title="Audit log" about="Who did what to which record, when and why; newest first. Each entry is chained to the one before; nobody can change one unseen.">
      {may("audit.verify") && <Verify />}
      <Card withBorder padding="sm" component="section" aria-label="Entries">
        <form onSubmit={submit}>
          <Group gap="xs" align="flex-end" mb="sm">
            {fields.map((f, i) => (
              <TextInput
                key={f.key}
                label={f.label}
                size="xs"
                w={"type" in f ? 190 : 150}
                type={"type" in f ? f.type : "text"}
                placeholder={"placeholder" in f ? f.placeholder : undefined}
                value={typed[f.key]}
                onChange={(e) => {
                  const v = e.currentTarget.value;
                  type((t) => ({ ...t, [f.key]: v }));
                }}
                {...(i === 0 ? { "data-filter": true } : {})}
              />
            ))}
            <Button type="submit" size="xs">
              Search
            </Button>
            <Button
              size="xs"
              variant="default"
              onClick={() => {
                type(Object.fromEntries(fields.map((f) => [f.key, ""])));
                setQuery(new URLSearchParams());
              }}
            >
              Clear
            </Button>
          </Group>
        </form>
        <Entries wanted={wanted} />
      </Card>
    </Page>
  );
}

function Entries({ wanted }: { wanted: Record<string, string> }) {
  const q = useInfiniteQuery({
    queryKey: ["audit", wanted],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      got(
        api.GET("/v1/audit", {
          params: {
            query: {
              ...(wanted["record"] ? { record: Number(wanted["record"]) } : {}),
              ...(wanted["actor"] ? { actor: wanted["actor"] } : {}),
              ...(wanted["action"] ? { action: wanted["action"] } : {}),
              ...(wanted["from"] ? { from: new Date(wanted["from"]).toISOString() } : {}),
              ...(wanted["to"] ? { to: new Date(wanted["to"]).toISOString() } : {}),
              ...(pageParam ? { cursor: pageParam } : {}),
              limit: 100,
            },
          },
          headers: pageParam ? {} : background,
        }),
      ),
    getNextPageParam: (p: Schemas["AuditPage"]) => p.next_cursor,
  });
  if (q.isPending) return <LoadingLines />;
  if (q.isError) return <Failure error={q.error} onRetry={() => void q.refetch()} />;
  const entries = q.data.pages.flatMap((p) => p.entries);
  const looked = q.data.pages.reduce((n, p) => n + p.looked_at, 0);
  return (
    <Stack gap="xs">
      {entries.length === 0 ? (
        <Empty title="No entry matches">{many(looked, "entry was", "entries were")} read.</Empty>
      ) : (
        <Table.ScrollContainer minWidth={760}>
          <Table verticalSpacing={4} aria-label="Audit entries" stickyHeader>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>No.</Table.Th>
                <Table.Th>When</Table.Th>
                <Table.Th>Who</Table.Th>
                <Table.Th>Did</Table.Th>
                <Table.Th>Record</Table.Th>
                <Table.Th>Change</Table.Th>
                <Table.Th>Why</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {entries.map((e) => (
                <Table.Tr key={e.seq}>
                  <Table.Td className="figure">{count(e.seq)}</Table.Td>
                  <Table.Td style={{ whiteSpace: "nowrap" }}>
                    <time dateTime={e.at}>{at(e.at)}</time>
                  </Table.Td>
                  <Table.Td>{e.actor}</Table.Td>
                  <Table.Td className="mono">{e.action}</Table.Td>
                  <Table.Td>
                    {e.record ? (
                      <Anchor component={Link} href={`/records/${e.record}`} size="sm">
                        {e.record}
                      </Anchor>
                    ) : (
                      "–"
                    )}
                  </Table.Td>
                  <Table.Td>
                    {e.from && e.from !== e.to && `${name(e.from)} → `}
                    {e.to && name(e.to)} {e.detail && <span className="mono">{e.detail}</span>}
                  </Table.Td>
                  <Table.Td>{e.note}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {q.hasNextPage && (
        <Group justify="center">
          <Button variant="default" loading={q.isFetchingNextPage} onClick={() => void q.fetchNextPage()}>
            Older entries
          </Button>
        </Group>
      )}
    </Stack>
  );
}

type Report = Awaited<ReturnType<typeof verify>>;

// A checkpoint ends with its line: what was lost of it in the field is put back.
const verify = (kept: string) => got(api.POST("/v1/audit/verify", { body: kept ? { kept: `${kept}\n` } : {} }));

function Verify() {
  const [kept, keep] = useState("");
  const [busy, setBusy] = useState(false);
  const [report, setReport] = useState<Report | null>(null);
  const [error, setError] = useState<unknown>(null);
  const run = async () => {
    setBusy(true);
    setError(null);
    setReport(null);
    try {
      setReport(await verify(kept.trim()));
    } catch (e) {
      setError(e);
    }
    setBusy(false);
  };
  return (
    <Card withBorder padding="sm" component="section" aria-label="Verify the log">
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={2} size="h4">
            Verify
          </Title>
          <Text size="sm" c="dimmed">
            Reads the whole log and recomputes every hash. With a checkpoint that you kept elsewhere it also finds a log that was rolled back.
          </Text>
        </div>
        <Button leftSection={<IconShieldCheck size={18} aria-hidden />} loading={busy} onClick={() => void run()}>
          Verify now
        </Button>
      </Group>
      <Textarea label="Kept checkpoint" description="Optional" size="xs" mt="xs" autosize minRows={1} maxRows={6} value={kept} onChange={(e) => keep(e.currentTarget.value)} maxLength={4096} />
      {error !== null && <Failure error={error} />}
      {report && <Verdict r={report} />}
    </Card>
  );
}

function Verdict({ r }: { r: Report }) {
  return (
    <Alert mt="sm" role="status" color={r.whole ? "green" : "red"} variant="light" title={r.whole ? "The log is whole" : "The log was changed"}>
      <Text size="sm">
        {many(r.entries, "entry", "entries")}, signed up to no. {count(r.signed)} by {many(r.checkpoints, "checkpoint")}.
      </Text>
      {r.problems.length > 0 && (
        <List size="sm">
          {r.problems.map((p, i) => (
            <List.Item key={i} className="mono">
              {JSON.stringify(p)}
            </List.Item>
          ))}
        </List>
      )}
      {!r.whole && <Text size="sm">Stop those who can write to the disk, keep a copy, and follow the runbook for a conflict.</Text>}
      <Text size="sm" mt="xs">
        Newest checkpoint: keep it where whoever administers this machine cannot write.
      </Text>
      <Group align="flex-start" gap="xs">
        <Code block style={{ flex: 1 }}>
          {r.checkpoint}
        </Code>
        <CopyButton value={r.checkpoint}>
          {({ copied, copy }) => (
            <Button size="xs" variant="default" onClick={copy}>
              {copied ? "Copied" : "Copy"}
            </Button>
          )}
        </CopyButton>
      </Group>
    </Alert>
  );
}
