import { Anchor, Box, Breadcrumbs, Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { Link } from "wouter";

interface Props {
  title: string;
  /** One line that says what the page is for. */
  about?: ReactNode;
  crumbs?: { label: string; href: string }[];
  /** Buttons of the page as a whole. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A page: its heading takes the focus when somebody comes to it, so that a screen reader says where he is. */
export function Page({ title, about, crumbs, actions, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · claimdlq`;
    if (document.activeElement === document.body || document.activeElement === null) heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <Stack gap="md">
      <Box>
        {crumbs && (
          <Breadcrumbs separatorMargin={6} mb={4} aria-label="Breadcrumbs" component="nav">
            {crumbs.map((c) => (
              <Anchor key={c.href} component={Link} href={c.href} size="sm">
                {c.label}
              </Anchor>
            ))}
          </Breadcrumbs>
        )}
        <Group justify="space-between" align="flex-start" wrap="wrap" gap="sm">
          <Box>
            <Title order={1} size="h2" ref={heading} tabIndex={-1} style={{ outline: "none" }}>
              {title}
            </Title>
            {about && (
              <Text c="dimmed" size="sm" component="div">
                {about}
              </Text>
            )}
          </Box>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      </Box>
      {children}
    </Stack>
  );
}
