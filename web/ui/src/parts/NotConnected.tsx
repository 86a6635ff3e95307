import { Alert, Code, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";

/** Stands where the server does not answer: what is certain, and what to do. Who shows it goes on asking. */
export function NotConnected() {
  return (
    <Alert role="status" color="yellow" variant="light" mb="md" icon={<IconAlertTriangle aria-hidden />} title="The server does not answer">
      <Text size="sm">
        It is asked again every few seconds, and this page goes on by itself: there is no need to load it anew. Nothing that was acknowledged is lost; what is shown is as it was, and what you typed stays.
      </Text>
      <Text size="sm" mt={4}>
        If it stays so, look on its machine whether <Code>claimdlq serve</Code> runs and what it said last, and whether the network leads to <span className="mono">{location.host}</span>.
      </Text>
    </Alert>
  );
}
