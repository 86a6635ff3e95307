import { Alert, Button, Code, CopyButton, Group, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";

/** Shows a secret that is not to be had again: to be copied now. */
export function Once({ title, secret, children, onClose }: { title: string; secret: string; children: ReactNode; onClose: () => void }) {
  return (
    <Stack>
      <Alert color="green" variant="light" title={title}>
        <Group gap="xs">
          <Code fz="md" className="breakable">
            {secret}
          </Code>
          <CopyButton value={secret}>
            {({ copied, copy }) => (
              <Button size="compact-sm" variant="default" onClick={copy}>
                {copied ? "Copied" : "Copy"}
              </Button>
            )}
          </CopyButton>
        </Group>
        <Text size="sm" mt="xs">
          It is shown this once{children}
        </Text>
      </Alert>
      <Button onClick={onClose}>Done</Button>
    </Stack>
  );
}
