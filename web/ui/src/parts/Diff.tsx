import { Checkbox, Table, Text } from "@mantine/core";
import { useState } from "react";

export interface DiffLine {
  code: string;
  name: string;
  where?: string;
  before: string;
  after: string;
}

/** Before and after. Masked by their form (letters as A, digits as 9) until somebody asks for the values. */
export function Diff({ masked, shown, label }: { masked: DiffLine[]; /** With values; none where they are not to be had. */ shown?: DiffLine[]; label: string }) {
  const [open, setOpen] = useState(false);
  const lines = open && shown ? shown : masked;
  return (
    <>
      {shown && <Checkbox size="xs" mb={6} checked={open} onChange={(e) => setOpen(e.currentTarget.checked)} label="Show values" />}
      <Table.ScrollContainer minWidth={260}>
        <Table verticalSpacing={3} aria-label={label}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Place</Table.Th>
              <Table.Th>Before</Table.Th>
              <Table.Th>After</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {lines.map((d, i) => (
              <Table.Tr key={i}>
                <Table.Td>
                  <span className="mono">{d.code}</span>
                  <Text size="xs" c="dimmed">
                    {d.name}
                  </Text>
                </Table.Td>
                <Table.Td className="mono breakable">{d.before || "–"}</Table.Td>
                <Table.Td className="mono breakable">{d.after || "–"}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}
