"""Commands about this machine: what is wrong here, what was made for it, and how it all goes again.

doctor      `blackbird doctor`
ca          `blackbird ca`
completion  `blackbird completion`
uninstall   `blackbird uninstall`
"""
