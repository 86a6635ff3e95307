import { ActionIcon, Badge, Box, Group, Kbd, Modal, NavLink, Stack, Table, Text, UnstyledButton, VisuallyHidden, useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconKeyboard, IconLogout, IconMenu2, IconMoon, IconSun, IconUserCircle, IconX } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { NotConnected } from "@/parts/NotConnected";
import { choice, Popup } from "@/parts/Popup";
import { count } from "@/parts/words";
import { useLive } from "./live";
import { rooms } from "./routes";
import { useSession } from "./session";
import { SessionClock } from "./SessionClock";

export function Shell({ children }: { children: ReactNode }) {
  const [opened, nav] = useDisclosure();
  const [help, helpDialog] = useDisclosure();
  const [where, go] = useLocation();
  const { session, may, signOut } = useSession();
  const { overview, lost } = useLive();
  const { setColorScheme } = useMantineColorScheme();
  const dark = useComputedColorScheme("light") === "dark";
  useShortcuts(go, helpDialog.open, may);
  useEffect(() => nav.close(), [where]); // eslint-disable-line react-hooks/exhaustive-deps

  const waiting: Record<string, number> = {
    "/in-doubt": overview?.states["in_doubt"]?.records ?? 0,
    "/parked": overview?.states["parked"]?.records ?? 0,
    "/groups": overview?.states["quarantined"]?.records ?? 0,
    "/alarms": overview?.alarms ?? 0,
    "/approvals": overview?.needs_me.find((n) => n.what === "approvals")?.count ?? 0,
  };
  return (
    <div className="shell">
      <a className="skip" href="#main">
        To the page
      </a>
      <header className="shell-header">
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <ActionIcon variant="subtle" color="gray" onClick={nav.toggle} hiddenFrom="sm" aria-label="Navigation" aria-expanded={opened} aria-controls="pages">
              {opened ? <IconX size={20} /> : <IconMenu2 size={20} />}
            </ActionIcon>
            <Link href="/" aria-label="claimdlq, overview">
              <Group gap={8} wrap="nowrap">
                <img src="/icon.svg" width={24} height={24} alt="" />
                <Text fw={700} c="var(--mantine-color-text)">
                  claimdlq
                </Text>
              </Group>
            </Link>
            <Conservation />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SessionClock />
            <ActionIcon title="Keyboard (?)" variant="subtle" color="gray" aria-label="Keyboard shortcuts" onClick={helpDialog.open}>
              <IconKeyboard size={20} />
            </ActionIcon>
            <ActionIcon
              title={dark ? "Light" : "Dark"}
              variant="subtle"
              color="gray"
              aria-label={dark ? "Light colours" : "Dark colours"}
              onClick={() => setColorScheme(dark ? "light" : "dark")}
            >
              {dark ? <IconSun size={20} /> : <IconMoon size={20} />}
            </ActionIcon>
            <Popup
              label="Account"
              button={
                <UnstyledButton>
                  <Group gap={6} wrap="nowrap">
                    <IconUserCircle size={22} aria-hidden />
                    <VisuallyHidden>Account of</VisuallyHidden>
                    <Box visibleFrom="xs">
                      <Text size="sm" lh={1.1}>
                        {session.actor}
                      </Text>
                      <Text size="xs" c="dimmed" lh={1.1}>
                        {session.roles.join(", ")}
                      </Text>
                    </Box>
                  </Group>
                </UnstyledButton>
              }
            >
              <Link href="/account" {...choice}>
                <IconUserCircle size={16} aria-hidden /> My account
              </Link>
              <button {...choice} onClick={() => void signOut()}>
                <IconLogout size={16} aria-hidden /> Sign out
              </button>
            </Popup>
          </Group>
        </Group>
      </header>
      <nav className="shell-nav" id="pages" aria-label="Pages" data-open={opened || undefined}>
        <Box p="xs">
          {rooms.map((part) => {
            const seen = part.rooms.filter((r) => r.permission === "" || may(r.permission));
            if (seen.length === 0) return null;
            return (
              <Box key={part.title} mb="sm" role="group" aria-label={part.title}>
                <Text size="xs" fw={600} c="dimmed" px="sm" mb={2}>
                  {part.title}
                </Text>
                {seen.map((r) => {
                  const active = r.path === "/" ? where === "/" : where === r.path || where.startsWith(`${r.path}/`);
                  const n = waiting[r.path] ?? 0;
                  return (
                    <NavLink
                      key={r.path}
                      component={Link}
                      href={r.path}
                      label={r.label}
                      active={active}
                      aria-current={active ? "page" : undefined}
                      variant="light"
                      leftSection={<r.icon size={18} stroke={1.7} />}
                      rightSection={
                        n > 0 ? (
                          <Badge size="sm" variant="default" className="figure" tt="none">
                            {n > 99_999 ? "99,999+" : count(n)}
                          </Badge>
                        ) : null
                      }
                    />
                  );
                })}
              </Box>
            );
          })}
        </Box>
      </nav>
      <main className="shell-main" id="main">
        {lost && <NotConnected />}
        {children}
      </main>
      <Modal opened={help} onClose={helpDialog.close} title="Keyboard">
        <Stack gap="xs">
          <Table>
            <Table.Tbody>
              {rooms
                .flatMap((r) => r.rooms)
                .filter((r) => r.permission === "" || may(r.permission))
                .map((r) => (
                  <Table.Tr key={r.path}>
                    <Table.Td>{r.label}</Table.Td>
                    <Table.Td>
                      <Kbd>g</Kbd> <Kbd>{r.key}</Kbd>
                    </Table.Td>
                  </Table.Tr>
                ))}
              <Table.Tr>
                <Table.Td>Next and previous line, open it, select it</Table.Td>
                <Table.Td>
                  <Kbd>↓</Kbd> <Kbd>↑</Kbd> <Kbd>Enter</Kbd> <Kbd>Space</Kbd>
                </Table.Td>
              </Table.Tr>
              <Table.Tr>
                <Table.Td>Search and filters of a list</Table.Td>
                <Table.Td>
                  <Kbd>/</Kbd>
                </Table.Td>
              </Table.Tr>
            </Table.Tbody>
          </Table>
        </Stack>
      </Modal>
    </div>
  );
}

/** Says on every page whether every claim is accounted for. */
function Conservation() {
  const { overview, live } = useLive();
  const c = overview?.conservation;
  // What was so a while ago is not said of now.
  if (!c || !live) return null;
  return c.difference === 0 ? (
    <Badge title={`${count(c.received)} claims received, ${count(c.accounted)} accounted for`} component={Link} href="/" variant="light" color="green" tt="none" className="badge" visibleFrom="md" style={{ cursor: "pointer" }}>
      Every claim accounted for
    </Badge>
  ) : (
    <Badge component={Link} href="/" variant="filled" color="red" tt="none" style={{ cursor: "pointer" }}>
      {count(Math.abs(c.difference))} claims unaccounted for
    </Badge>
  );
}

/** g and a letter goes to a page, ? shows the keys, / goes to the filters. Not while somebody types. */
function useShortcuts(go: (to: string) => void, help: () => void, may: (permission: string) => boolean) {
  const armed = useRef(0);
  useEffect(() => {
    const f = (e: KeyboardEvent) => {
      const t = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || t.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName) || document.querySelector("[role=dialog]")) return;
      if (e.key === "?") {
        help();
        return;
      }
      if (e.key === "/") {
        const box = document.querySelector<HTMLElement>("[data-filter]");
        if (box) {
          e.preventDefault();
          box.focus();
        }
        return;
      }
      if (e.key === "g") {
        armed.current = Date.now();
        return;
      }
      if (Date.now() - armed.current < 1200) {
        const r = rooms.flatMap((x) => x.rooms).find((x) => x.key === e.key && (x.permission === "" || may(x.permission)));
        armed.current = 0;
        if (r) {
          e.preventDefault();
          go(r.path);
        }
      }
    };
    document.addEventListener("keydown", f);
    return () => document.removeEventListener("keydown", f);
  }, [go, help, may]);
}
