"""HTML as elements, for every format that carries HTML: pages, mails, books, notebooks."""
