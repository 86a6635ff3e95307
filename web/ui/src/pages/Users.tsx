import { Badge, Button, Checkbox, Group, Modal, Stack, Table, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, etag, got, type Schemas } from "@/api/client";
import { useSession } from "@/app/session";
import { Await } from "@/parts/Await";
import { Failure } from "@/parts/Failure";
import { Once } from "@/parts/Once";
import { Page } from "@/parts/Page";
import { listOf, newPassword, roles } from "@/parts/roles";
import { useCommand } from "@/parts/useCommand";
import { When } from "@/parts/When";

type User = Schemas["User"];

export default function Users() {
  const [open, setOpen] = useState<User | "new" | null>(null);
  const q = useQuery({ queryKey: ["users"], queryFn: () => got(api.GET("/v1/users")) });
  return (
    <Page title="Users" about="Who may sign in, and what he may do for which partners. A change counts at once." actions={<Button onClick={() => setOpen("new")}>Add a user</Button>}>
      <Await query={q}>
        {({ users }) => (
          <Table.ScrollContainer minWidth={680}>
            <Table aria-label="Users" verticalSpacing={6}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Login</Table.Th>
                  <Table.Th>Roles</Table.Th>
                  <Table.Th>Partners</Table.Th>
                  <Table.Th>Codes</Table.Th>
                  <Table.Th>Since</Table.Th>
                  <Table.Th>Change</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {users.map((u) => (
                  <Table.Tr key={u.login}>
                    <Table.Td>
                      <Group gap={6}>
                        {u.login}
                        {u.machine && <Tag>program</Tag>}
                        {u.disabled && <Tag>disabled</Tag>}
                        {u.must_change && <Tag>first password</Tag>}
                      </Group>
                    </Table.Td>
                    <Table.Td>{u.roles.join(", ") || "none"}</Table.Td>
                    <Table.Td className="mono">{u.partners.join(" ") || "none"}</Table.Td>
                    <Table.Td>{u.machine ? "–" : u.has_code ? "set up" : "none"}</Table.Td>
                    <Table.Td>
                      <When t={u.created_at} />
                    </Table.Td>
                    <Table.Td>
                      <Button size="compact-sm" variant="default" onClick={() => setOpen(u)} aria-label={`Change ${u.login}`}>
                        Change
                      </Button>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
      </Await>
      {open === "new" && <Add onClose={() => setOpen(null)} />}
      {open !== null && open !== "new" && <Change user={open} onClose={() => setOpen(null)} />}
    </Page>
  );
}

const Tag = ({ children }: { children: string }) => (
  <Badge size="sm" variant="light" color="gray" className="badge" tt="none">
    {children}
  </Badge>
);

function Access(p: { roles: string[]; partners: string; onRoles: (r: string[]) => void; onPartners: (s: string) => void }) {
  return (
    <>
      <Checkbox.Group label="Roles" value={p.roles} onChange={p.onRoles}>
        <Stack gap={6} mt={4}>
          {roles.map((r) => (
            <Checkbox key={r.value} value={r.value} label={r.value} description={r.about} />
          ))}
        </Stack>
      </Checkbox.Group>
      <TextInput
        label="Partners"
        description="* for all; BIN:PCN or ISA07:ISA08, the part before the colon, or a beginning and a star. Several with spaces between."
        value={p.partners}
        onChange={(e) => p.onPartners(e.currentTarget.value)}
        className="mono"
      />
    </>
  );
}

/** Shows a password once. */
function Shown({ login, password, onClose }: { login: string; password: string; onClose: () => void }) {
  return (
    <Once title={`First password of ${login}`} secret={password} onClose={onClose}>
      , and has to be changed at the first sign-in. Hand it over by another way than the login.
    </Once>
  );
}

function Add({ onClose }: { onClose: () => void }) {
  const [login, setLogin] = useState("");
  const [machine, setMachine] = useState(false);
  const [mine, setRoles] = useState<string[]>(["viewer"]);
  const [partners, setPartners] = useState("*");
  const [password] = useState(newPassword);
  const [done, setDone] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const { run, busy } = useCommand();
  const submit = (e: FormEvent) => {
    e.preventDefault();
    setError(null);
    run("", (key) =>
      got(
        api.POST("/v1/users", {
          params: { header: { "Idempotency-Key": key } },
          body: { login, roles: mine as never, partners: listOf(partners), ...(machine ? { machine: true } : { password }) },
        }),
      ),
    ).then(() => (machine ? onClose() : setDone(true)), setError);
  };
  return (
    <Modal opened onClose={onClose} title="Add a user" size="lg" closeOnClickOutside={!done}>
      {done ? (
        <Shown login={login} password={password} onClose={onClose} />
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <TextInput label="Login" description="Small letters, figures, dot, dash" value={login} onChange={(e) => setLogin(e.currentTarget.value)} pattern="[a-z0-9._\-]{2,64}" required data-autofocus autoComplete="off" />
            <Checkbox label="For a program: it has tokens and no password" checked={machine} onChange={(e) => setMachine(e.currentTarget.checked)} />
            <Access roles={mine} partners={partners} onRoles={setRoles} onPartners={setPartners} />
            {error !== null && <Failure error={error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={busy} disabled={login.length < 2}>
                Add
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Modal>
  );
}

function Change({ user, onClose }: { user: User; onClose: () => void }) {
  const { session } = useSession();
  const [mine, setRoles] = useState<string[]>(user.roles);
  const [partners, setPartners] = useState(user.partners.join(" "));
  const [shown, show] = useState("");
  const [error, setError] = useState<unknown>(null);
  const { run, busy } = useCommand();
  const login = { login: user.login };
  const act = (said: string, f: (key: string) => Promise<unknown>, then: () => void = onClose) => {
    setError(null);
    run(said, f).then(then, setError);
  };
  return (
    <Modal opened onClose={onClose} title={`Change ${user.login}`} size="lg">
      {shown ? (
        <Shown login={user.login} password={shown} onClose={onClose} />
      ) : (
        <Stack>
          <Access roles={mine} partners={partners} onRoles={setRoles} onPartners={setPartners} />
          {error !== null && <Failure error={error} />}
          <Group justify="space-between">
            <Group gap="xs">
              {user.login !== session.actor && (
                <Button
                  variant="default"
                  onClick={() => act(user.disabled ? "He may sign in again" : "Disabled, and signed out", (key) => got(api.PUT("/v1/users/{login}/disabled", { params: { path: login, header: { "Idempotency-Key": key } }, body: { disabled: !user.disabled } })))}
                >
                  {user.disabled ? "Let him sign in" : "Disable"}
                </Button>
              )}
              {!user.machine && (
                <Button
                  variant="default"
                  onClick={() => {
                    const password = newPassword();
                    act("", (key) => got(api.PUT("/v1/users/{login}/password", { params: { path: login, header: { "Idempotency-Key": key } }, body: { password } })), () => show(password));
                  }}
                >
                  New password
                </Button>
              )}
              {user.has_code && (
                <Button variant="default" onClick={() => act("His codes are gone", (key) => got(api.DELETE("/v1/users/{login}/code", { params: { path: login, header: { "Idempotency-Key": key } } })))}>
                  Take codes away
                </Button>
              )}
            </Group>
            <Button
              loading={busy}
              onClick={() =>
                act("Roles and partners are changed", (key) =>
                  got(
                    api.PUT("/v1/users/{login}/access", {
                      params: { path: login, header: { "Idempotency-Key": key, "If-Match": etag(user.revision) } },
                      body: { roles: mine as never, partners: listOf(partners) },
                    }),
                  ),
                )
              }
            >
              Save roles and partners
            </Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
