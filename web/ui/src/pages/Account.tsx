import { Alert, Button, Card, Group, List, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import { api, got } from "@/api/client";
import { ChoosePassword, Enrol } from "@/app/Duty";
import { useSession } from "@/app/session";
import { Failure } from "@/parts/Failure";
import { Page } from "@/parts/Page";
import { roles } from "@/parts/roles";
import { useCommand } from "@/parts/useCommand";
import { at, many } from "@/parts/words";

export default function Account() {
  const { session, renew } = useSession();
  const [open, setOpen] = useState<"password" | "code" | null>(null);
  const [said, say] = useState("");
  const [error, setError] = useState<unknown>(null);
  const { run, busy } = useCommand();
  const done = (text: string) => {
    say(text);
    setOpen(null);
    void renew();
  };
  return (
    <Page title="My account" about={`Signed in as ${session.actor}.`}>
      {said && (
        <Alert color="green" variant="light" role="status">
          {said}
        </Alert>
      )}
      {error !== null && <Failure error={error} />}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Card withBorder component="section" aria-label="What I may do">
          <Title order={2} size="h4" mb="xs">
            What I may do
          </Title>
          <List size="sm">
            {roles
              .filter((r) => (session.roles as string[]).includes(r.value))
              .map((r) => (
                <List.Item key={r.value}>
                  <b>{r.value}</b>: {r.about}
                </List.Item>
              ))}
          </List>
          <Text size="sm" mt="xs">
            For partners: <span className="mono">{session.partners.join(" ")}</span>
          </Text>
          {session.elevated_until && <Text size="sm">Claims may be opened until {at(session.elevated_until)}.</Text>}
          {session.expires_at && (
            <Text size="sm" c="dimmed">
              The session ends 15 minutes after its last use, and at {at(session.expires_at)} at the latest.
            </Text>
          )}
        </Card>
        <Card withBorder component="section" aria-label="Signing in">
          <Title order={2} size="h4" mb="xs">
            Signing in
          </Title>
          {open === "password" && <ChoosePassword onDone={() => done("The password is changed; every other session has ended.")} />}
          {open === "code" && <Enrol onDone={() => done("One-time codes are set up.")} />}
          {open !== null ? (
            <Button mt="sm" variant="default" onClick={() => setOpen(null)}>
              Cancel
            </Button>
          ) : (
            <Stack>
              <Group>
                <Button variant="default" onClick={() => setOpen("password")}>
                  Change password
                </Button>
                <Button variant="default" onClick={() => setOpen("code")}>
                  Set up one-time codes
                </Button>
              </Group>
              <Button
                variant="default"
                loading={busy}
                onClick={() =>
                  void run("", (key) => got(api.DELETE("/v1/sessions/{actor}", { params: { path: { actor: session.actor }, header: { "Idempotency-Key": key } } }))).then(
                    (r) => say(`${many(r.sessions, "session was", "sessions were")} ended.`),
                    setError,
                  )
                }
              >
                Sign out everywhere
              </Button>
            </Stack>
          )}
        </Card>
      </SimpleGrid>
    </Page>
  );
}
