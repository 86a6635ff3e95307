import { Alert, Anchor, Badge, Button, Card, Code, Group, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, background, got } from "@/api/client";
import { results as verdicts } from "@/parts/acts";
import { Await } from "@/parts/Await";
import { ReasonBadge, StateBadge } from "@/parts/Badges";
import { Fact } from "@/parts/Beside";
import { Empty } from "@/parts/Empty";
import { Failure } from "@/parts/Failure";
import { Page } from "@/parts/Page";
import { ReasonDialog } from "@/parts/ReasonDialog";
import { type Approval, live, useApprovals } from "@/parts/SecondPerson";
import { useCommand } from "@/parts/useCommand";
import { When } from "@/parts/When";
import { count, dollars, many, name } from "@/parts/words";
import { PlanCard } from "./replay/PlanCard";
import { results } from "./replay/say";

const deeds: Record<string, string> = {
  "record.unpark": "give back",
  "record.withdraw": "write off, for good,",
  "replay.run": "run",
  "record.park": "park",
  "record.inquire": "ask the payer about",
};

const target = (a: Approval): { href: string; label: string; job?: string; act?: string; record?: number } => {
  const [kind, id = ""] = [a.on.slice(0, a.on.indexOf(":")), a.on.slice(a.on.indexOf(":") + 1)];
  if (kind === "JOB") return { href: `/replays/${id}`, label: `replay ${id}`, job: id };
  if (kind === "ACT") return { href: `/acts/${id}`, label: `many records, ${id}`, act: id };
  return { href: `/records/${id}`, label: `record ${id}`, record: Number(id) };
};

export default function Approvals() {
  const q = useApprovals();
  return (
    <Page title="Approvals" about="What takes two people: one asks, another says yes to exactly that, and then who asked does it.">
      <Await query={q}>
        {(all) => {
          const forMe = all.filter((a) => a.decidable);
          const mine = all.filter((a) => a.mine && live(a));
          const rest = all.filter((a) => !forMe.includes(a) && !mine.includes(a));
          return (
            <Stack>
              <section aria-label="Waits for me">
                <Title order={2} size="h4" mb="xs">
                  Waits for me
                </Title>
                {forMe.length === 0 ? <Empty title="Nothing waits for you" /> : forMe.map((a) => <Decide key={a.id} a={a} />)}
              </section>
              {mine.length > 0 && (
                <section aria-label="I asked for">
                  <Title order={2} size="h4" mb="xs">
                    I asked for
                  </Title>
                  {mine.map((a) => (
                    <Mine key={a.id} a={a} />
                  ))}
                </section>
              )}
              {rest.length > 0 && <History all={rest} />}
            </Stack>
          );
        }}
      </Await>
    </Page>
  );
}

/** A request for one's decision: exactly what, and yes or no. */
function Decide({ a }: { a: Approval }) {
  const { run, busy } = useCommand();
  const [note, setNote] = useState("");
  const [error, setError] = useState<unknown>(null);
  const [refusing, setRefusing] = useState(false);
  const t = target(a);
  const approve = async () => {
    setError(null);
    try {
      await run(`Approved: ${a.asked_by} may do it now`, (key) =>
        got(api.POST("/v1/approvals/{id}/approve", { params: { path: { id: a.id }, header: { "Idempotency-Key": key } }, body: { digest: a.digest, ...(note.trim() ? { reason: note.trim() } : {}) } })),
      );
    } catch (x) {
      setError(x);
    }
  };
  return (
    <Card withBorder mb="sm" component="article" aria-label={`${a.asked_by}: ${deeds[a.permission] ?? a.permission} ${t.label}`}>
      <Stack gap="sm">
        <Text>
          <strong>{a.asked_by}</strong> wants to {deeds[a.permission] ?? a.permission} <Anchor component={Link} href={t.href}>{t.label}</Anchor>: “{a.reason}”{" "}
          <Text span size="sm" c="dimmed">
            asked <When t={a.asked_at} />, ends <When t={a.expires_at} />
          </Text>
        </Text>
        {t.job ? <OfPlan id={t.job} digest={a.digest} /> : t.act ? <OfAct id={t.act} digest={a.digest} /> : t.record ? <OfRecord id={t.record} /> : null}
        {t.record !== undefined && (
          <Text size="xs" c="dimmed">
            Digest of exactly what is approved: <Code style={{ overflowWrap: "anywhere" }}>{a.digest}</Code>
          </Text>
        )}
        {error !== null && <Failure error={error} />}
        <Group align="flex-end">
          <TextInput label="Note" description="Optional; for the audit log" value={note} onChange={(e) => setNote(e.currentTarget.value)} maxLength={200} style={{ flex: "1 1 240px" }} />
          <Button loading={busy} onClick={() => void approve()}>
            Approve
          </Button>
          <Button variant="default" onClick={() => setRefusing(true)}>
            Refuse …
          </Button>
        </Group>
      </Stack>
      {refusing && (
        <ReasonDialog
          title={`Refuse what ${a.asked_by} asked for?`}
          verb="Refuse"
          danger
          suggestions={["Look at the cause first", "Too many at once"]}
          onClose={() => setRefusing(false)}
          onConfirm={(reason) => run("Refused", (key) => got(api.POST("/v1/approvals/{id}/refuse", { params: { path: { id: a.id }, header: { "Idempotency-Key": key } }, body: { reason } })))}
        >
          <Text size="sm">They are shown your reason. Nothing is done.</Text>
        </ReasonDialog>
      )}
    </Card>
  );
}

function OfPlan({ id, digest }: { id: string; digest: string }) {
  const q = useQuery({
    queryKey: ["replay", id],
    queryFn: () => got(api.GET("/v1/replays/{id}", { params: { path: { id } }, headers: background })),
  });
  return (
    <Await query={q} lines={4}>
      {(d) => (
        <Stack gap="sm">
          {d.plan.digest !== digest && <Another />}
          <PlanCard plan={d.plan} level={3} />
          <Text size="sm" className="figure">
            Dry run:{" "}
            {d.progress.dry_run
              ? results
                  .filter(([k]) => d.progress.dry_run?.[k])
                  .map(([k, w]) => `${count(d.progress.dry_run![k]!)} ${w.would}`)
                  .join(", ")
              : "there was none"}
            .
          </Text>
        </Stack>
      )}
    </Await>
  );
}

const Another = () => (
  <Alert color="red" variant="light" title="This is not the plan that was asked about">
    <Text size="sm">Refuse it, and let them ask anew.</Text>
  </Alert>
);

function OfAct({ id, digest }: { id: string; digest: string }) {
  const q = useQuery({
    queryKey: ["act", id],
    queryFn: () => got(api.GET("/v1/acts/{id}", { params: { path: { id } }, headers: background })),
  });
  return (
    <Await query={q} lines={4}>
      {({ plan }) => (
        <Stack gap="sm">
          {plan.digest !== digest && <Another />}
          <PlanCard plan={plan} level={3} />
          <Text size="sm" className="figure">
            As planned:{" "}
            {verdicts
              .filter(([k]) => plan.verdicts[k])
              .map(([k, w]) => `${count(plan.verdicts[k]!)} ${w.would}`)
              .join(", ")}
            .
          </Text>
        </Stack>
      )}
    </Await>
  );
}

function OfRecord({ id }: { id: number }) {
  const q = useQuery({
    queryKey: ["record", id],
    queryFn: () => got(api.GET("/v1/records/{id}", { params: { path: { id } }, headers: background })),
  });
  return (
    <Await query={q} lines={2}>
      {(d) => (
        <Group gap="xl" align="flex-start" className="figure">
          <Fact label="State">
            <StateBadge state={d.record.state} />
          </Fact>
          <Fact label="Cause">
            {d.meaning || name(d.record.reason_code ?? "")} <span className="mono">{d.record.error_detail}</span> <ReasonBadge reason={d.record.reason_code} />
          </Fact>
          <Fact label="Partner">
            <span className="mono">{d.record.partner || "–"}</span>
          </Fact>
          <Fact label="Claims">{count(d.record.claims)}</Fact>
          <Fact label="Money">{dollars(d.record.amount_cents)}</Fact>
          <Fact label="Replays">{count(d.record.replay_count)}</Fact>
        </Group>
      )}
    </Await>
  );
}

function Mine({ a }: { a: Approval }) {
  const { run } = useCommand();
  const [taking, setTaking] = useState(false);
  const t = target(a);
  const given = a.state === "given";
  return (
    <Card withBorder mb="xs">
      <Group justify="space-between">
        <Text size="sm">
          To {deeds[a.permission] ?? a.permission} <Anchor component={Link} href={t.href} size="sm">{t.label}</Anchor>, asked <When t={a.asked_at} />: “{a.reason}”.{" "}
          {given ? (
            <strong>
              {a.decided_by} has approved it{a.answer ? `: “${a.answer}”` : ""}. It waits for you.
            </strong>
          ) : (
            <>
              It waits for somebody else; it ends <When t={a.expires_at} />.
            </>
          )}
        </Text>
        <Group gap="xs">
          {given && (
            <Button size="compact-sm" component={Link} href={t.href}>
              Go and do it
            </Button>
          )}
          <Button size="compact-sm" variant="default" onClick={() => setTaking(true)}>
            Take it back …
          </Button>
        </Group>
      </Group>
      {taking && (
        <ReasonDialog
          title="Take the request back?"
          verb="Take it back"
          suggestions={["Not needed any more", "Asked anew"]}
          onClose={() => setTaking(false)}
          onConfirm={(reason) => run("Taken back", (key) => got(api.POST("/v1/approvals/{id}/refuse", { params: { path: { id: a.id }, header: { "Idempotency-Key": key } }, body: { reason } })))}
        />
      )}
    </Card>
  );
}

function History({ all }: { all: Approval[] }) {
  const [more, setMore] = useState(false);
  const shown = more ? all : all.slice(0, 50);
  return (
    <section aria-label="History">
      <Title order={2} size="h4" mb="xs">
        History
      </Title>
      <Card withBorder padding={0} style={{ overflowX: "auto" }}>
        <Table verticalSpacing={6} miw={760} aria-label="History">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>What</Table.Th>
              <Table.Th>Asked by</Table.Th>
              <Table.Th>Reason</Table.Th>
              <Table.Th>Answer</Table.Th>
              <Table.Th>When</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((a) => {
              const t = target(a);
              const over = a.expired && (a.state === "asked" || a.state === "given");
              return (
                <Table.Tr key={a.id}>
                  <Table.Td>
                    {deeds[a.permission] ?? a.permission}{" "}
                    <Anchor component={Link} href={t.href} size="sm">
                      {t.label}
                    </Anchor>
                  </Table.Td>
                  <Table.Td>{a.asked_by}</Table.Td>
                  <Table.Td>{a.reason}</Table.Td>
                  <Table.Td>
                    <Group gap={6}>
                      <Badge variant="light" color={over ? "gray" : a.state === "refused" ? "red" : a.state === "asked" ? "blue" : "green"} tt="none" className="badge">
                        {over ? "Ran out" : name(a.state)}
                      </Badge>
                      {a.decided_by && <span>by {a.decided_by}</span>}
                      {a.answer && <span>: “{a.answer}”</span>}
                    </Group>
                  </Table.Td>
                  <Table.Td>
                    <When t={a.used_at ?? a.decided_at ?? a.asked_at} />
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </Card>
      {all.length > shown.length && (
        <Button size="compact-sm" variant="subtle" mt="xs" onClick={() => setMore(true)}>
          {many(all.length - shown.length, "older request")}
        </Button>
      )}
    </section>
  );
}
