import { Alert, Anchor, Badge, Button, Card, Group, NativeSelect, Stack, Text, Title } from "@mantine/core";
import { IconBellOff } from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "wouter";
import { api, got, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Await } from "@/parts/Await";
import { Empty } from "@/parts/Empty";
import { Page } from "@/parts/Page";
import { ReasonDialog } from "@/parts/ReasonDialog";
import { useAlarms } from "@/parts/useAlarms";
import { useCommand } from "@/parts/useCommand";
import { When } from "@/parts/When";
import { at, name } from "@/parts/words";

type Alarm = Schemas["Alarm"];

export default function Alarms() {
  const q = useAlarms();
  return (
    <Page title="Alarms" about="What rings, the most urgent first. An alarm ends by itself when its cause has ended.">
      <Await query={q}>
        {({ alarms }) =>
          alarms.length === 0 ? (
            <Empty title="Nothing rings">Rules are looked at every few seconds; the same rules are there for Prometheus.</Empty>
          ) : (
            <Stack>
              {alarms.map((a) => (
                <AlarmCard key={a.fingerprint} a={a} />
              ))}
            </Stack>
          )
        }
      </Await>
    </Page>
  );
}

/** What the page that shows an alarm's cause is called. */
const pages: Record<string, string> = { "/": "Overview", "/switches": "The partner", "/in-doubt": "What is in doubt", "/parked": "What is parked", "/records": "The records", "/groups": "The causes", "/deadlines": "The deadlines" };

function AlarmCard({ a }: { a: Alarm }) {
  const { may } = useSession();
  const { run } = useCommand();
  const [asking, ask] = useState(false);
  const path = { path: { fingerprint: a.fingerprint } };
  return (
    <Card withBorder padding="md" component="article" aria-label={a.summary}>
      <Group justify="space-between" align="flex-start" wrap="wrap">
        <Stack gap={4}>
          <Group gap="xs">
            <Badge variant="light" color={a.silence ? "gray" : a.severity === "page" ? "red" : "orange"} className="badge" tt="none">
              {a.severity === "page" ? "Page" : "Ticket"}
            </Badge>
            <Title order={2} size="h4">
              {a.summary}
            </Title>
          </Group>
          <Text size="sm" c="dimmed">
            <span className="mono">{a.alarm}</span>, since <When t={a.starts_at} />
            {a.stream && <>, {name(a.stream)}</>}
            {a.partner && (
              <>
                , <span className="mono">{a.partner}</span>
              </>
            )}
            {a.reason && <>, {name(a.reason)}</>}
          </Text>
          <Text size="sm" className="figure">
            {figure(a.value)}, threshold {figure(a.threshold)}
          </Text>
          {a.silence && (
            <Alert color="gray" variant="light" icon={<IconBellOff aria-hidden />} mt={4}>
              Acknowledged by {a.silence.by} until {at(a.silence.until)}: {a.silence.reason}
            </Alert>
          )}
        </Stack>
        <Group gap="xs">
          <Button component={Link} href={a.console} size="sm">
            {pages[a.console.split("?")[0]!] ?? "Its cause"}
          </Button>
          {may("alarms.ack") &&
            (a.silence ? (
              <Button variant="default" size="sm" onClick={() => void run("It rings again", (key) => got(api.DELETE("/v1/alarms/{fingerprint}/silence", { params: { ...path, header: { "Idempotency-Key": key } } }))).catch(() => undefined)}>
                Let it ring again
              </Button>
            ) : (
              <Button variant="default" size="sm" onClick={() => ask(true)}>
                Acknowledge
              </Button>
            ))}
        </Group>
      </Group>
      {a.runbook && (
        <Text size="sm" mt="xs">
          What ends it: <RunbookName path={a.runbook} />
        </Text>
      )}
      {asking && <Acknowledge a={a} onClose={() => ask(false)} />}
    </Card>
  );
}

function RunbookName({ path }: { path: string }) {
  return (
    <Anchor href={/^https?:/.test(path) ? path : `/${path}`} target="_blank" rel="noreferrer">
      runbook {path.replace(/^.*\/|\.md$/g, "")}
    </Anchor>
  );
}

function Acknowledge({ a, onClose }: { a: Alarm; onClose: () => void }) {
  const [hours, setHours] = useState("1");
  const { run } = useCommand();
  return (
    <ReasonDialog
      title="Acknowledge alarm"
      verb="Acknowledge"
      suggestions={["I am looking into it", "Known outage of the payer", "Maintenance window"]}
      onClose={onClose}
      onConfirm={(reason) =>
        run("Nobody is told of it for a while", (key) =>
          got(
            api.PUT("/v1/alarms/{fingerprint}/silence", {
              params: { path: { fingerprint: a.fingerprint }, header: { "Idempotency-Key": key } },
              body: { reason, minutes: Number(hours) * 60 },
            }),
          ),
        )
      }
    >
      <Text size="sm">{a.summary}</Text>
      <NativeSelect
        label="Nobody is told of it for"
        value={hours}
        onChange={(e) => setHours(e.currentTarget.value)}
        data={[
          { value: "1", label: "1 hour" },
          { value: "4", label: "4 hours" },
          { value: "24", label: "1 day" },
          { value: "168", label: "7 days" },
        ]}
       
      />
    </ReasonDialog>
  );
}

const figure = (v: number): string => (Number.isInteger(v) ? v.toLocaleString("en-US") : v.toFixed(2));
