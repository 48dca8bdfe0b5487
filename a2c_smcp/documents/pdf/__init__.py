"""How a PDF page becomes elements: lines, blocks, tables, notes and pictures, all from PDFium; see `formats.pdf`."""
